"""The vector engine on a GPU: tables of a batch of games, Triton kernels that read them, and the solver."""
