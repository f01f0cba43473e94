"""`python -m poker.kernels`: compiles all kernels on all cores into numba's cache; then no later command compiles."""

import sys

from poker.kernels.ahead import compile_all, is_compiled

if __name__ == "__main__":
    if is_compiled():
        print("all kernels are compiled for this machine", file=sys.stderr)
    else:
        compile_all()
