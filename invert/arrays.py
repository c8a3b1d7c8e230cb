"""Name arrays in annotations. The docstring of each function states the axes.

Modules that load numpy only to compute import these names under TYPE_CHECKING.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
"""Of numbers."""
Strata: TypeAlias = NDArray[np.uint16]
"""Indices of 65,536 equal parts."""
Values: TypeAlias = float | Array
"""A number, or an array that broadcasts with the others of a call."""
