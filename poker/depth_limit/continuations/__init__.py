"""Play after a leaf: the blueprint, the blueprint biased, or strategies generated against it ([DLS] section 4).

`forms.py` first: a form names the K continuations of a leaf and makes them. `rollout.py` values them to the end of
the hand, `generation.py` finds new ones as iterated best responses, and `leaf_play.py` lets them play on complete
boards.
"""
