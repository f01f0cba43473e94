"""Devices that tests of the torch backend run on, and how near its answers are to those of the kernels."""

import os

import pytest
import torch

INTERPRETER = os.environ.get("TRITON_INTERPRET") == "1"
"""Whether kernels for a GPU run on the CPU, in Triton's interpreter (`tests/conftest.py`)."""
CUDA = pytest.param(
    "cuda", marks=[pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]
)

CHIPS, SHARE = 0.05, 1e-3
"""How far values of hands and their strategies may be from those of the kernels after equal iterations."""
FEW = 5
"""Iterations for which that holds of every hand: later, one to which two actions are worth the same goes either way."""
