"""The dtype of every array role, with its reason.

Arrays are brought to these dtypes, C-contiguous, at the door (``Dataset``, the rankers' entry), so that every kernel
is compiled for one signature. ``Array`` and ``Number`` annotate what kernels take and return.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]  # the docstrings of kernels say its dtype and shape
Number: TypeAlias = Any  # int, float or bool in compiled code, NumPy's in plain Python: Numba finds out, mypy cannot

FEATURE = np.float32  # thresholds are float32 midpoints: training, scoring and search engines then compare alike
LABEL = np.float64  # real-valued labels are welcome; NaN = unlabelled
WORTH = np.float64  # what a label is worth to a measure (gain, 0/1, stop probability)
SCORE = np.float64  # a score is the float64 sum of the leaves in tree order
FORCE = np.float64
CURVATURE = np.float64
WEIGHT = np.float64  # document and query weights, as the user gives them
LEAF = np.float32  # leaf values are rounded when a tree is made, so that files and engines hold them exactly
BIN = np.uint8  # 255 bins and one for missing values
OFFSET = np.int64  # where queries start: may exceed 2^31 documents
INDEX = np.int32  # a document within the data set or within its query
HISTOGRAM = np.int64  # packed fixed-point sums: integers, so the order of addition does not matter
HASH = np.uint64
