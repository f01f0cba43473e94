"""Values at the depth limit of a subgame ([DLS] section 4).

Read `evaluator.py` first. It defines the one protocol, `LeafEvaluator`. It maps the states at which a betting round is
over, with the ranges of both players, to the value of each pair of hands under each continuation that the opponent may
choose. `leaves/` has its implementations (a table, rollouts, a net), `continuations/` the strategies played after the
leaf, and `inputs.py` the 34 inputs of the net.
"""
