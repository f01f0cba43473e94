"""Opponents: what a player does next, and with which hands ([POKI] sections 5 and 6).

Read `model.py` first. It defines the two protocols:

- An `OpponentModel` describes one opponent. It gives probabilities of hands and actions, and search plays against it.
- A `Predictor` describes everybody at a table. It gives probabilities of fold, call and raise, without ranges.

`habits.py` learns a heads-up no-limit opponent from counted actions. `inputs/` defines the inputs of the nets in
`models/opponent`. `limit/` has the weight tables and play-outs of [POKI] for ring games.
"""
