"""The net at the depth limit: 34 inputs of a pair of hands to the values of the continuations.

`module.py` first, the Lightning module that `train.py model=leaf` fits. `data.py` reads shards, `export.py` writes the
net, and `runner.py` computes values with a trained one.
"""
