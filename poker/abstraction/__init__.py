"""Hand strength and buckets: groups of hands that a blueprint plays alike.

Read `buckets.py` first. `methods.py` computes the buckets from the features in `features.py`.
"""
