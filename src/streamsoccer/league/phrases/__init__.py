"""The words of the simulated live text, by what they tell of; grammar.py says how they are read."""

from streamsoccer.league.phrases import bench, chances, defence, discipline, flow, goals, set_pieces

__all__ = ["TEXTS"]

TEXTS = (chances.TEXT, goals.TEXT, set_pieces.TEXT, defence.TEXT, discipline.TEXT, bench.TEXT, flow.TEXT)
