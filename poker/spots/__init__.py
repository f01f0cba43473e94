"""Spots of hold'em: a pot, stacks, ranges and bets, read from a file, solved, reported and walked through.

Start with `spots.py`, the format of the file, then `report.py`, which solves one. `walk.py` answers questions about a
solution at any point of its tree.
"""
