"""What the sheets that ship imply, worked out once a process for all tests that only look at it."""

from functools import cache

from derive.tables.shipped import read
from invert.inference import infer
from invert.result import InferenceTable
from tests.tools.tables import reading, tiered_sonnet_tables


@cache
def current() -> InferenceTable:
    """Every sheet of today's default tiers."""
    with reading(read()):
        return infer()


@cache
def everything() -> InferenceTable:
    """Every sheet of every service tier."""
    with reading(read()):
        return infer(everything=True)


@cache
def everything_with_tiered_sonnet() -> InferenceTable:
    """Every sheet of every service tier, from the tables of the fixture `tiered_sonnet`."""
    with reading(tiered_sonnet_tables()):
        return infer(everything=True)
