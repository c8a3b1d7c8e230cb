"""Tables of a test in the place of those that ship."""

from collections.abc import Iterator
from contextlib import contextmanager

from derive import shipped


@contextmanager
def reading(tables: shipped.Tables | None = None) -> Iterator[shipped.Tables]:
    """Whoever reads the tables gets these, or those that are there now."""
    held, read = tables or shipped.read(), shipped.read
    shipped.read = lambda folder=None: held
    try:
        yield held
    finally:
        shipped.read = read
