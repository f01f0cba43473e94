"""The net at the depth limit: 34 inputs of a pair of hands to the values of the continuations.

`training.py` first, what `train.py model=leaf` runs; `module.py` is the Lightning module, `data.py` reads shards,
`runner.py` asks a trained net for values.
"""
