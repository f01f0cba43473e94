"""`python -m poker.kernels`: compiles all kernels on all cores into numba's cache; then no later command compiles."""

from poker.kernels.ahead import compile_missing

if __name__ == "__main__":
    compile_missing()
