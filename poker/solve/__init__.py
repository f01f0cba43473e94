"""Every solve of a two-player subgame: in play, in spots, in reviews and in reports.

Read `types.py` first: what is solved, and up to which limits. `batches.py` runs solvers on the CPU or on a GPU
(`torch/`), and `solver.py` solves one betting round to a depth limit or to the end of the hand. `solution.py` has the
results, `safety.py` keeps solves from conceding more than earlier ones, and `modelled.py` lets a part of a range play
by a model.
"""
