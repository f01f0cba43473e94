"""CFR over ranges: all hands of both players at every node, exact, on all cores.

Read `game.py` first. A tree, a board and ranges make a `VectorGame`. `solver.py` iterates it, and `schedules.py`
defines how regrets are discounted. The inner loops are in `poker/kernels/vector`.
"""
