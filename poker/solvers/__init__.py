"""Solvers of whole games and of subgames: CFR over ranges, sampling CFR, UCT, best responses, and the blueprint.

Read `vector/solver.py` for subgames, `sampling/mccfr.py` for blueprints and `blueprint.py` for the stored result.
"""
