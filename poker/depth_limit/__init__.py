"""Values at the depth limit of a subgame ([DLS] section 4): where a leaf is valued.

Read `evaluator.py` first: one protocol, `LeafEvaluator`, takes the states at which a betting round is over and the
ranges of both, and gives the values of each pair of hands for each continuation that the opponent may choose.
`leaves/` are its kinds (a table, rollouts, a net), `continuations/` what is played after the leaf, and `inputs.py`
the 34 inputs of the net.
"""
