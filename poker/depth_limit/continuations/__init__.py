"""Strategies played after a leaf: the blueprint, its biased forms, or self-generated strategies ([DLS] section 4).

Read `forms.py` first. A form names the K continuations of a leaf and creates them. `rollout.py` computes their values
to the end of the hand. `generation.py` finds new continuations as iterated best responses. `leaf_play.py` evaluates
them exactly on complete boards.
"""
