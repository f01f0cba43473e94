"""Hand strength and buckets: hands that a blueprint plays alike.

`buckets.py` first; `methods.py` makes them, from the features in `features.py`.
"""
