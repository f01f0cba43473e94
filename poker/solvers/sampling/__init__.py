"""Sampling solvers for n players: external and outcome sampling MCCFR, UCT and Smooth UCT ([SUCT]).

Read `base.py` first, which all of them share. The kernels are in `poker/kernels/sampling`.
"""
