"""Agents that solve subgames as they play: heads-up, against a model of the opponent, and in ring games.

Read `heads_up.py` first, which has the agent of [DLS].
"""
