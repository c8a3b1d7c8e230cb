"""The data of a run for functions that are handed one."""

from functools import lru_cache

from derive.tables import shipped
from derive.tables.shipped import Tables
from invert.data import Data


def shipped_data() -> Data:
    """Data of the tables that ship, or of those that a test has put in their place."""
    return _of(shipped.read())


@lru_cache(maxsize=2)
def _of(tables: Tables) -> Data:
    return Data(tables)
