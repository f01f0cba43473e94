"""Hold'em spots (pot, stacks, ranges and bet sizes): read from a file, solved, reported and explored.

Start with `spots.py`, the format of the file, then `report.py`, which solves one. `walk.py` answers questions about a
solution at any point of its tree.
"""
