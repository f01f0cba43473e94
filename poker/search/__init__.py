"""Nested solving of subgames in real time ([DLS] sections 4 and 5).

Read `nested.py` first: it solves each round of a hand from the ranges so far, and stores the solutions.
`poker.solve` solves a round. `joint.py` searches for both players at once, `trust.py` computes how far a model of the
opponent is trusted, `multiplayer/` searches with more than two players, and `settings.py` has all settings.
"""
