"""Inner loops compiled by numba: arrays in, arrays out, no poker objects.

`registry.py` declares a kernel. `python -m poker.kernels` compiles all of them ahead of time. A kernel and the kernels
that it calls are in one file where possible, because numba notices no edits in other files.
"""
