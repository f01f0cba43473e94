"""The kinds of leaf evaluators: a table before the flop, rollouts, a net of pairs of hands.

Each is one file, named in `conf/leaf/`; `blueprint_states.py` finds the blueprint's state for a leaf of a tree, and
`off_tree.py` that of a leaf after bets that the blueprint does not know. `clusters.py` groups hands, so that a net is
asked for fewer pairs.
"""
