"""Kernels of opponent models: weights of hands, action frequencies given hands, and play-outs."""
