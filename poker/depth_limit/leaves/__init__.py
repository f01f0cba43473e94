"""The leaf evaluators: a table before the flop, rollouts, and a net of pairs of hands.

Each is one file, selected in `conf/leaf/`. `blueprint_states.py` finds the blueprint's state for a leaf of a tree.
`off_tree.py` draws leaves after bets that the blueprint lacks. `clusters.py` groups hands, so that a net evaluates
fewer pairs.
"""
