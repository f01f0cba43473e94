"""Rows of a table of Monte-Carlo CFR, to be looked at and set."""

import numpy as np
from numpy.lib.stride_tricks import as_strided

from poker.kernels.types import Reals
from poker.solvers.sampling.tree import ROW_UNIT, SamplingTree


def rows(tree: SamplingTree, table: Reals, node: int) -> Reals:
    """[B, 2, A] view of sampling node `node`: regrets, then strategy sums, per bucket."""
    record, size = tree.nodes[node], table.itemsize
    arity, stride = int(record["arity"]), int(tree.strides[record["player"], record["street"]])
    strides = (ROW_UNIT * stride * size, arity * size, size)
    shape = tree.num_buckets[record["street"]], 2, arity
    return np.asarray(as_strided(table[ROW_UNIT * int(record["row"]) :], shape, strides))
