"""Live soccer commentary by a machine that remembers the match."""

__version__ = "0.1.0"
