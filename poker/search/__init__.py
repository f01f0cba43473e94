"""Nested solving of subgames in real time ([DLS] sections 4 and 5).

Read `nested.py` first: it solves each round of a hand anew from the ranges so far, and keeps what was solved.
`round_solver.py` solves one round to the depth limit, `safety.py` has the ways of re-solving safely, `settings.py`
all that can be set, bet sizes among them. `exploit/` searches against a model of the opponent, `multiplayer/` with
more than two players, `torch/` on a GPU.
"""
