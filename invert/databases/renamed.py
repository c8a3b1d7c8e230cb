"""Fields that a database no longer has, and their possible new names."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from derive.errors import suggest
from derive.immutable import immutable

_DEPTH = 6
"""The largest depth at which names are searched. The prices of variants of a model are at this depth."""
LEAST_ENTRIES = 10
"""The fewest entries from which a usual field should occur at least once."""


@immutable
class Fields:
    """The names of the fields that are read from an entry: `usual` is in nearly every entry, `rare` in some.

    `is_known` returns whether the database has always had a name, because such a name is not a new name of another field.
    """

    usual: tuple[str, ...]
    rare: tuple[str, ...] = ()
    is_known: Callable[[str], bool] = lambda _name: False


def fields_in(record: Any, depth: int = _DEPTH) -> Iterator[tuple[str, Any]]:
    """Yield all fields of a record, and of the records in it, with their values."""
    if isinstance(record, dict):
        yield from ((name, value) for name, value in record.items() if isinstance(name, str))
    if depth and isinstance(record, dict | list):
        for one in record.values() if isinstance(record, dict) else record:
            yield from fields_in(one, depth - 1)


def gone(fields: Fields, seen: Mapping[str, int], entries: int) -> Iterator[tuple[str, str]]:
    """Yield the fields that none of the entries has, with the fault. `seen` counts the entries that have a field.

    A field is reported if another name is similar, and a usual one also if there are enough entries to expect it.
    """
    others = sorted(name for name in seen if not fields.is_known(name) and name not in (*fields.usual, *fields.rare))
    for name in (*fields.usual, *fields.rare):
        _, is_similar, alike = suggest(name, others).partition("did you mean ")
        if not seen.get(name) and (is_similar or (name in fields.usual and entries >= LEAST_ENTRIES)):
            yield name, f"is in none of {entries} entries" + (f". It may now be {alike.rstrip('?')}" if is_similar else "")
