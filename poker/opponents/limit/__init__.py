"""[POKI]'s knowledge of a ring of limit hold'em: strength, weight tables, income before the flop, play-outs.

`tracker.py` first: weight tables over the hands of all opponents, reweighted after each action.
"""
