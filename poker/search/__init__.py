"""Nested solving of subgames in real time ([DLS] sections 4 and 5).

Read `nested.py` first: it solves each round of a hand from the ranges so far, and stores the solutions.
`round_solver.py` solves one round to the depth limit, `safety.py` re-solves safely, and `settings.py` has all settings.
`exploit/` searches against a model of the opponent, `multiplayer/` with more than two players, and `torch/` on a GPU.
"""
