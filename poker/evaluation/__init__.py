"""Measures of an agent's strength: matches, variance reduction and exploitability.

Read `matches/match.py` first. `aivat/` removes luck from results. `exploitability/` computes the profit of a best
opponent. `replay.py` evaluates hands that were played elsewhere, and `leaf_values.py` compares leaf evaluators.
"""
