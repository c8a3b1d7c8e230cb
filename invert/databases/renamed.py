"""Fields that a database no longer has, and their possible new names."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from derive.errors import suggest

if TYPE_CHECKING:
    from invert.databases.records import Format

_DEPTH = 6
"""The largest depth at which names are searched. The prices of variants of a model are at this depth."""
LEAST_ENTRIES = 10
"""The fewest entries from which a usual field should occur at least once."""


def fields_in(record: Any, depth: int = _DEPTH) -> Iterator[tuple[str, Any]]:
    """Yield all fields of a record, and of the records in it, with their values."""
    if isinstance(record, dict):
        yield from ((name, value) for name, value in record.items() if isinstance(name, str))
    if depth and isinstance(record, dict | list):
        for one in record.values() if isinstance(record, dict) else record:
            yield from fields_in(one, depth - 1)


def gone(form: "Format", seen: Mapping[str, int], entries: int) -> Iterator[tuple[str, str]]:
    """Yield the fields that none of the entries has, with the fault. `seen` counts the entries that have a field.

    A field is reported if another name is similar, and a usual one also if there are enough entries to expect it.
    """
    others = sorted(name for name in seen if not form.is_known(name) and name not in (*form.usual, *form.rare))
    for name in (*form.usual, *form.rare):
        _, is_similar, alike = suggest(name, others).partition("did you mean ")
        if not seen.get(name) and (is_similar or (name in form.usual and entries >= LEAST_ENTRIES)):
            yield name, f"is in none of {entries} entries" + (f". It may now be {alike.rstrip('?')}" if is_similar else "")
