"""The words of the simulated live text, a file for each part of the game; grammar.py says how they are read."""
