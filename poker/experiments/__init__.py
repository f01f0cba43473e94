"""Experiments: one module or folder for each figure or claim of a paper, and for the tables of `make demo`.

No other package imports them.
"""
