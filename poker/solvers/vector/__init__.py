"""CFR over ranges: all hands of both players at every node, exact, on all cores.

`game.py` first: a tree, a board and ranges make a `VectorGame`; `solver.py` iterates it, `schedules.py` says how
regrets are discounted. The inner loops are in `poker/kernels/vector`.
"""
