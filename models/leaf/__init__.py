"""Nets at the depth limit: the 34-input net of pairs of hands and the net of ranges.

`training.py` first, what `train.py model=leaf` runs; `module.py` is the Lightning module, `data.py` reads shards,
`runner.py` asks a trained net for values.
"""
