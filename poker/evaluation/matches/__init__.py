"""Matches between agents: every deal in every seating, results by agent, seat and class.

`match.py` plays, `results.py` holds the payoffs `[session, seating, deal, player]`, of which all else is a reduction.
"""
