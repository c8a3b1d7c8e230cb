"""Fields that no entry of a database has any more, and what they may be called now."""

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from typing import Any

from derive.errors import suggest

_DEPTH = 6
"""How deep names are looked for: the prices of a variant of a model are the deepest that are read."""
LEAST_ENTRIES = 10
"""Entries of which one has a field that entries nearly always have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """Names of what is read of an entry: `usual` is in nearly every one, `rare` in some.

    `is_known` tells the names that the database has had all along, which therefore stand for no other.
    """

    usual: tuple[str, ...]
    rare: tuple[str, ...] = ()
    is_known: Callable[[str], bool] = lambda _name: False


def fields_in(record: Any, depth: int = _DEPTH) -> Iterator[tuple[str, Any]]:
    """All fields that a record, and what lies in it, has, with their values.

    >>> sorted(name for name, _ in fields_in({"limit": {"context": 1}, "tiers": [{"input": 2}]}))
    ['context', 'input', 'limit', 'tiers']
    """
    fields = record if isinstance(record, dict) else getattr(record, "__dict__", {})
    inside = record if isinstance(record, list | tuple) else fields.values()
    yield from ((name, value) for name, value in fields.items() if isinstance(name, str))
    if depth:
        for one in inside:
            if isinstance(one, dict | list | tuple) or hasattr(one, "__dict__"):
                yield from fields_in(one, depth - 1)


def gone(fields: Fields, seen: Set[str], entries: int) -> Iterator[tuple[str, str]]:
    """Fields that none of so many entries has, of all names `seen` in them: one looks like it, or there should be one by now.

    >>> list(gone(Fields(usual=("context_window",)), {"context_size", "id"}, 3))
    [('context_window', "is in none of 3 entries, and may be 'context_size' now")]
    """
    others = sorted(name for name in seen if name not in (*fields.usual, *fields.rare) and not fields.is_known(name))
    for name in (*fields.usual, *fields.rare):
        if name in seen:
            continue
        _, is_named, alike = suggest(name, others).partition("did you mean ")
        if is_named or (name in fields.usual and entries >= LEAST_ENTRIES):
            yield name, f"is in none of {entries} entries" + (f", and may be {alike.rstrip('?')} now" if is_named else "")
