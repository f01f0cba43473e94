"""Inner loops compiled by numba: arrays in, arrays out, no poker objects.

`registry.py` declares a kernel. `python -m poker.kernels` compiles all of them ahead of time. After an edit of a file,
its kernels and those in files that import it are compiled again.
"""
