"""Poker agents, exact solvers and value nets: the command `pokernets` and the Python interface."""

__version__ = "0.1.0"
