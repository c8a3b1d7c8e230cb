"""Print records in a Python session, each in one line."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

_LINE, _TEXT, _FEW = 100, 40, 3
"""Most characters of a record, of a text in it, and most members of a collection that are shown."""


def brief(record: Any) -> str:
    """Return a dataclass in one line of at most 100 characters: its first fields, and the sizes of collections.

    >>> from derive.records import Source
    >>> Source(kind="talk", title="On caches", author="Ada Lovelace", url="", said="long to tell")
    Source(kind='talk', title='On caches', author='Ada Lovelace', url='', said='long to tell', ...)
    """
    shown = f"{type(record).__name__}("
    room = _LINE - len(", ...)")
    known = [field for field in fields(record) if field.repr]
    for place, field in enumerate(known):
        part = f"{', ' if place else ''}{field.name}={_value(getattr(record, field.name))}"
        if len(shown + part) > (room if place + 1 < len(known) else _LINE - 1):
            return f"{shown}{', ' if place else ''}...)"
        shown += part
    return shown + ")"


def cut(text: str) -> str:
    """Return a text in one line of at most 100 characters."""
    line = " ".join(text.split())
    return line if len(line) <= _LINE else line[: _LINE - 3] + "..."


def _value(value: Any) -> str:
    if isinstance(value, str):
        return repr(value if len(value) <= _TEXT else value[: _TEXT - 3] + "...")
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, tuple | list | dict | frozenset | set):
        return _collection(value)
    # Another mapping may compute its values when it is read, and an array may be large.
    text = "" if isinstance(value, Mapping) or hasattr(value, "shape") or hasattr(value, "__dataclass_fields__") else repr(value)
    return text if text and len(text) <= _TEXT and "\n" not in text else f"<{type(value).__name__}>"


def _collection(value: Any) -> str:
    plain = [one for one in value if isinstance(one, str | int | float | None)]
    text = repr(value) if len(plain) == len(value) <= _FEW and not isinstance(value, dict) else ""
    return text if text and len(text) <= _TEXT else f"<{len(value)}>" if value else repr(value)


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
