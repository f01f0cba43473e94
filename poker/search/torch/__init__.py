"""The vector solver on a GPU: games of a batch as tables, one iteration as few launches of Triton kernels.

`vector.py` first, the solver, then `tables.py`, which lays out games, and `kernels.py`.
"""
