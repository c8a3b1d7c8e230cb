"""Fields that no entry of a database has any more, or that some have under another name, and what they may be called now."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any

from derive.errors import suggest
from derive.immutable import immutable

_DEPTH = 6
"""How deep names are looked for: the prices of a variant of a model are the deepest that are read."""
LEAST_ENTRIES = 10
"""Entries of which one has a field that entries nearly always have."""


@immutable
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


def gone(fields: Fields, seen: Mapping[frozenset[str], int]) -> Iterator[tuple[str, str]]:
    """Fields that no entry has, or that some may have under another name, of the names `seen` together and in how many entries.

    Of a field that none has one looks like it, or there should be one by now; of one that some have, one that looks like it stands
    in most of the others, and in these alone.

    >>> list(gone(Fields(usual=("context_window",)), {frozenset({"context_size", "id"}): 3}))
    [('context_window', "is in none of 3 entries, and may be 'context_size' now")]
    """
    entries, known = sum(seen.values()), {*fields.usual, *fields.rare}
    others = {name for names in seen for name in names if name not in known and not fields.is_known(name)}
    for name in (*fields.usual, *fields.rare):
        having = sum(count for names, count in seen.items() if name in names)
        if having and entries < LEAST_ENTRIES:
            continue
        meant = sorted(_instead(name, others, seen) if having else others)
        _, is_named, alike = suggest(name, meant).partition("did you mean ")
        if having and is_named:
            yield name, f"is in {having} of {entries} entries, and may be {alike.rstrip('?')} in others"
        elif not having and (is_named or (name in fields.usual and entries >= LEAST_ENTRIES)):
            yield name, f"is in none of {entries} entries" + (f", and may be {alike.rstrip('?')} now" if is_named else "")


def _instead(name: str, others: Set[str], seen: Mapping[frozenset[str], int]) -> set[str]:
    """The names that stand in most of the entries without a field, and in none that has it."""
    beside = {other for names in seen if name in names for other in names}
    lacking = Counter[str]()
    for names, count in seen.items():
        if name not in names:
            lacking.update(dict.fromkeys(names, count))
    entries = sum(count for names, count in seen.items() if name not in names)
    return {other for other in others - beside if 2 * lacking[other] > entries}
