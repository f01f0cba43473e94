"""The leaf net: it maps 34 inputs of a pair of hands to the values of the continuations.

Read `module.py` first, the Lightning module that `train.py model=leaf` trains. `data.py` reads shards, `export.py`
writes the net, and `runner.py` computes values with a trained net.
"""
