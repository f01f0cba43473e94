"""Parts that all nets share: the module, the order of rows, checkpoints, callbacks, export, inference on a CPU.

`module.py` first, what the Lightning modules of both kinds of nets share; `mlp.py` is the net of both kinds of
inputs.
"""
