"""The vector solver on a GPU: a batch of games is stored as tables, and an iteration is a few Triton launches.

Read `vector.py` first, the solver, then `tables.py`, which lays out games, and `kernels.py`.
"""
