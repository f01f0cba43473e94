"""Values at the depth limit of a subgame ([DLS] section 4).

Read `evaluator.py` first. It defines the protocol `LeafEvaluator`. An evaluator receives the states at which a betting
round is over and the ranges of both players. It returns the value of each pair of hands under each continuation that
the opponent may choose.

`leaves/` has the implementations: a table, rollouts and a net. `continuations/` has the strategies played after the
leaf, and `inputs.py` the 34 inputs of the net.
"""
