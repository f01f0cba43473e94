"""Agents: everything that can sit at a table.

Read `base.py` first: an `Agent` chooses actions, and one with a `policy` also gives its strategy for all hands.
`searching/` has the agents that solve subgames, `poki/` the players of [POKI], and `foreign/` players of other
programs.
"""
