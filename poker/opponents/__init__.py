"""Opponents: what a player does next, and with which hands ([POKI] sections 5 and 6).

Read `model.py` first. It has the two protocols: an `OpponentModel` of one opponent gives probabilities of hands and
actions to search against; a `Predictor` of everybody at a table gives fold, call and raise, action by action, where
no range is wanted. `habits.py` counts what people do in no-limit games, `inputs/` are the inputs of the nets in
`models/opponent`, and `limit/` has the weight tables and play-outs of [POKI]'s ring games.
"""
