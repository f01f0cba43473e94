"""Matches between agents: every deal in every seating, and results by agent, seat and class.

`match.py` plays. `results.py` stores the payoffs `[session, seating, deal, player]`; all other results are reductions
of them.
"""
