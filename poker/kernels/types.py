"""Short names of array types, for the many arrays that a kernel takes."""

import numpy as np
from numpy.typing import NDArray

from poker.types import Reals as Reals  # noqa: PLC0414 (kernels take it from here)

U8 = NDArray[np.uint8]
U16 = NDArray[np.uint16]
U64 = NDArray[np.uint64]
I8 = NDArray[np.int8]
I16 = NDArray[np.int16]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Bools = NDArray[np.bool_]
Records = NDArray[np.void]
