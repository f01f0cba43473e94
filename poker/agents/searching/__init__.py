"""Agents that solve subgames as they play: heads-up, against a model of the opponent, and in a ring.

`heads_up.py` first, the agent of [DLS].
"""
