"""Inputs of opponent nets: the 19 inputs of [POKI], inputs of no-limit hands and inputs of a player's history.

Read `limit.py` first, which defines the 19 inputs. `rows.py` defines the rows in which observed decisions are stored
and learned from.
"""
