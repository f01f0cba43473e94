"""Kernels of CFR over ranges: the sweep, terminals, decisions, best responses.

`sweep.py` first.
"""
