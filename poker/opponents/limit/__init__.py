"""The models of [POKI] for ring games of limit hold'em: strength, weight tables, preflop income and play-outs.

Read `tracker.py` first: it keeps weight tables over the hands of all opponents and reweights them after each action.
"""
