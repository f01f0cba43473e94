"""`python -m poker.kernels`: compile all kernels on all cores into numba's cache, so that no later command compiles."""

from poker.kernels.ahead import compile_missing

if __name__ == "__main__":
    compile_missing()
