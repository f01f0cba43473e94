"""Numba kernels: arrays in, arrays out. Everything that knows about names, units or files lives above."""
