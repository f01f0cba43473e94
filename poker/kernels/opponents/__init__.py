"""Kernels of opponent models: weights of hands, frequencies given hands, play-outs."""
