"""Solvers that sample: external and outcome sampling MCCFR, UCT and Smooth UCT ([SUCT]), for n players.

`base.py` first, what all of them share; the kernels are in `poker/kernels/sampling`.
"""
