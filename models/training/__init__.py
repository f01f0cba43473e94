"""Parts that all nets share: the loop of a training, checkpoints, pictures in TensorBoard, export, inference on a CPU.

`fitting.py` first, Lightning's trainer as configured with an exact resume; `mlp.py` is the net of both kinds of
inputs.
"""
