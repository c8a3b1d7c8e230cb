"""The data of a run for functions that are handed one."""

from functools import lru_cache

from derive.shipped import Tables, current
from invert.data import Data


def shipped_data() -> Data:
    """Data of the tables that ship, or of those that a test has laid over them with `reading`."""
    return _of(current())


@lru_cache(maxsize=2)
def _of(tables: Tables) -> Data:
    return Data(tables)
