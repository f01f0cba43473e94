"""Training code that all nets share: the module, the order of rows, checkpoints, callbacks, export and inference.

Read `module.py` first, the base of the Lightning modules of both kinds of nets. `mlp.py` is the perceptron that both
use.
"""
