"""What arrays are called in annotations; which axes one has stands in the docstring of what takes it.

Modules that load numpy only when they compute take these names under TYPE_CHECKING.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
"""Of numbers."""
Strata: TypeAlias = NDArray[np.uint16]
"""Of places among 65,536 equal parts."""
Values: TypeAlias = float | Array
"""A number, or an array that broadcasts with the others of a call."""
