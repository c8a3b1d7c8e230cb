"""Fields that a database no longer has, or has under another name in some entries, and their possible new names."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any

from derive.errors import suggest
from derive.immutable import immutable

_DEPTH = 6
"""How deep names are looked for: the prices of a variant of a model are the deepest that are read."""
LEAST_ENTRIES = 10
"""The fewest entries from which a usual field should occur at least once."""


@immutable
class Fields:
    """The names of the fields that are read from an entry: `usual` is in nearly every entry, `rare` in some.

    `is_known` returns whether the database has always had a name, which is then no new name of another field.
    """

    usual: tuple[str, ...]
    rare: tuple[str, ...] = ()
    is_known: Callable[[str], bool] = lambda _name: False


def fields_in(record: Any, depth: int = _DEPTH) -> Iterator[tuple[str, Any]]:
    """Yield all fields of a record, and of the records in it, with their values.

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


def gone(fields: Fields, seen: Mapping[frozenset[str], int]) -> Iterator[tuple[str, str]]:
    """Yield the fields that no entry has, or that some entries may have under another name, with the fault.

    `seen` counts the entries by their set of names. A field in no entry is reported if another name is similar, or if there are enough
    entries to expect it. A field in some entries is reported if a similar name is in most of the other entries, and only in these.

    >>> list(gone(Fields(usual=("context_window",)), {frozenset({"context_size", "id"}): 3}))
    [('context_window', "is in none of 3 entries, and may be 'context_size' now")]
    """
    entries, known = sum(seen.values()), {*fields.usual, *fields.rare}
    others = {name for names in seen for name in names if name not in known and not fields.is_known(name)}
    for name in (*fields.usual, *fields.rare):
        having = sum(count for names, count in seen.items() if name in names)
        if having and entries < LEAST_ENTRIES:
            continue
        meant = sorted(_possible_new_names(name, others, seen) if having else others)
        _, is_named, alike = suggest(name, meant).partition("did you mean ")
        if having and is_named:
            yield name, f"is in {having} of {entries} entries, and may be {alike.rstrip('?')} in others"
        elif not having and (is_named or (name in fields.usual and entries >= LEAST_ENTRIES)):
            yield name, f"is in none of {entries} entries" + (f", and may be {alike.rstrip('?')} now" if is_named else "")


def _possible_new_names(name: str, others: Set[str], seen: Mapping[frozenset[str], int]) -> set[str]:
    """Return the names in most of the entries that lack a field, and in no entry that has it."""
    beside = {other for names in seen if name in names for other in names}
    lacking = Counter[str]()
    for names, count in seen.items():
        if name not in names:
            lacking.update(dict.fromkeys(names, count))
    entries = sum(count for names, count in seen.items() if name not in names)
    return {other for other in others - beside if 2 * lacking[other] > entries}
