"""Kernels of CFR over ranges: the sweep, terminals, decisions and best responses.

Read `sweep.py` first.
"""
