"""Print records in a Python session, each in one line."""

import reprlib
from dataclasses import fields
from typing import Any

_LINE, _FEW = 100, 3
"""Most characters of a record, and most members of a collection that are shown."""
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 40
_SHORT.maxtuple = _SHORT.maxlist = _SHORT.maxdict = _SHORT.maxset = _SHORT.maxfrozenset = _FEW


def brief(record: Any) -> str:
    """Return a dataclass in one line of at most 100 characters: its first fields, with long values shortened.

    >>> from derive.records import Source
    >>> Source(kind="talk", title="On caches", author="Ada Lovelace", url="", said="long to tell")
    Source(kind='talk', title='On caches', author='Ada Lovelace', url='', said='long to tell', start=...
    """
    parts = (f"{field.name}={_SHORT.repr(getattr(record, field.name))}" for field in fields(record) if field.repr)
    return cut(f"{type(record).__name__}({', '.join(parts)})")


def cut(text: str) -> str:
    """Return a text in one line of at most 100 characters."""
    line = " ".join(text.split())
    return line if len(line) <= _LINE else line[: _LINE - 3] + "..."


class Records(tuple[Any, ...]):
    """A tuple that prints its first members, one per line, and the number of all.

    >>> Records("abcde")
    (5 in all:
     'a',
     'b',
     'c',
     ...)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        if len(self) <= _FEW:
            return super().__repr__()
        return "\n ".join([f"({len(self)} in all:", *(f"{one!r}," for one in self[:_FEW]), "...)"])
