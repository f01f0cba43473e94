"""Inner loops in numba: arrays in, arrays out, no poker objects.

`registry.py` declares a kernel; all are compiled ahead (`python -m poker.kernels`). A kernel and what it calls are in
one file where they can be, since numba notices no edits elsewhere.
"""
