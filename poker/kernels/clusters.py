"""Sums over pairs of hands by the clusters of both."""

import numpy as np

from poker.kernels.registry import entry
from poker.kernels.types import F32, F64, I32


@entry("f4_2r, f4_2r, i4_1r, i4_1r, i8, i8")
def pair_sums(values: F32, weights: F32, rows: I32, columns: I32, num_rows: int, num_columns: int) -> F64:
    """[2, R, C] sums of `values` times `weights` [H, H], and of the weights, over the pairs of clusters.

    `rows`, `columns` [H] are the clusters of a row's hand and a column's; -1 is none.
    """
    out = np.zeros((2, num_rows, num_columns))
    for i in range(len(rows)):
        row = rows[i]
        if row < 0:
            continue
        for j in range(len(columns)):
            column = columns[j]
            if column >= 0:
                out[0, row, column] += np.float64(values[i, j] * weights[i, j])
                out[1, row, column] += np.float64(weights[i, j])
    return out
