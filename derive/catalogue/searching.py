"""Search the catalogue: quantities and equations by name, symbol and meaning, and by their time in the lecture."""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

from derive.catalogue import by_id
from derive.errors import WrongValue, shorten
from derive.quantities import QUANTITIES
from derive.quantities.aliases import ALIASES, ALSO_CALLED, in_full
from derive.quantities.row import Quantity
from derive.records import Equation

_ALIKE = 0.75
"""Similarity above which a name counts as a misspelling of another."""

_STEM = 4
"""Minimum number of letters for a match by the beginning of a word."""

TALK = "talk"
_FILLERS = frozenset(("x", "times", "by"))
"""Words that stand between two factors."""
_TIME = re.compile(r"(?:(?P<hours>[0-9]{1,2}):)?(?P<minutes>[0-9]{1,2}):(?P<last>[0-5][0-9])")


def quantities_about(text: str) -> list[Quantity]:
    """Return the quantities for a word or words, best first: exact names, parts of names, misspelled names, then words of the meaning.

    >>> [row.name for row in quantities_about("t_kv")], quantities_about("tpot")[0].name
    (['kv_time'], 'step_time')
    """
    from difflib import get_close_matches

    wanted, name = _words(text), _name_from(text)
    alike = get_close_matches(name, QUANTITIES, len(QUANTITIES), _ALIKE) if len(name) >= _STEM else []
    ranks = ((_rank(name, wanted, row, alike), len(row.name), row.name) for row in QUANTITIES.values())
    ranked = sorted(one for one in ranks if one[0])
    return [QUANTITIES[name] for _, _, name in ranked]


def _name_from(text: str) -> str:
    return text.strip().lower().replace(" ", "_").replace("-", "_")


def _rank(name: str, wanted: Sequence[str], row: Quantity, alike: Collection[str] = ()) -> int:
    """Return how well a quantity matches a text: 1 is the best, 0 is not a match. `alike` has the names close to a misspelled one."""
    plain = in_full(name)
    called = (*ALIASES.get(name, ALIASES.get(plain, ())), *ALSO_CALLED.get(plain, ()))
    if row.name in (name, plain, *called) or (row.symbol.lower() == name and len(name) > 1):
        return 1
    parts = row.name.split("_")
    if wanted and all(word in parts or (len(word) >= _STEM and any(part.startswith(word) for part in parts)) for word in wanted):
        return 2
    if row.name in alike:
        return 3
    return 4 if wanted and _has_words(wanted, row.meaning) else 0


def equations_about(text: str, among: Iterable[Equation] | None = None) -> list[Equation]:
    """Return the equations for a word or words: matches in id or title first, then with a quantity of that name, then in the statement.

    >>> [row.id for row in equations_about("balance batch")][:2]
    ['batching.balance_batch', 'batching.balance_batch_with_kv']
    """
    wanted, rows = _words(text), [*(by_id().values() if among is None else among)]
    names = {row.name for row in QUANTITIES.values() if _rank(_name_from(text), wanted, row) in (1, 2)}
    if not wanted:
        return []
    return sorted((row for row in rows if _place(row, wanted, names)), key=lambda row: _place(row, wanted, names))


def _place(row: Equation, wanted: Sequence[str], names: set[str]) -> int:
    """Return how well an equation matches a word: 1 is the best, 0 is not a match."""
    of_the_id = re.split(r"[._]", row.id)
    found = (
        all(word in of_the_id for word in wanted),
        _has_words(wanted, f"{' '.join(of_the_id)} {row.title}"),
        row.defines in names,
        not names.isdisjoint(row.symbols),
        _has_words(wanted, " ".join((row.statement, *row.assumptions, *(source.said for source in row.sources)))),
    )
    return found.index(True) + 1 if any(found) else 0


def equations_at(time: str) -> list[Equation]:
    """Return the equations of a time in the lecture, h:mm or h:mm:ss. Raise WrongValue for any other text.

    A time without seconds means the whole minute. 19:30 is in the first hour, because no lecture lasts nineteen hours.

    >>> "batching.balance_batch" in [row.id for row in equations_at("0:19")]
    True
    """
    start, end = _span(time)
    said = {row.id: [one for one in row.sources if one.kind == TALK and one.start is not None] for row in by_id().values()}
    return [
        row
        for row in by_id().values()
        if any(one.start is not None and one.start < end and (one.end or one.start) >= start for one in said[row.id])
    ]


def _span(time: str) -> tuple[int, int]:
    """Return the start and end of a time [s]: a minute for h:mm, a second for h:mm:ss and, from 10:00 on, for mm:ss."""
    match = _TIME.fullmatch(time.strip())
    if match is None:
        raise WrongValue(f"{shorten(time)} is not a time of the lecture: write it as 0:19 or 0:19:30")
    hours, minutes, last = (int(part or 0) for part in match.group("hours", "minutes", "last"))
    if match["hours"] is None and minutes <= 9:
        at = 3600 * minutes + 60 * last
        return at, at + 60
    at = 3600 * hours + 60 * minutes + last
    return at, at + 1


def is_time(text: str) -> bool:
    """Return whether a text is written as a time of the lecture.

    >>> is_time("0:19:16"), is_time("batch")
    (True, False)
    """
    return _TIME.fullmatch(text.strip()) is not None


def corrected(text: str, others: Iterable[str] = ()) -> str:
    """Return words with each unknown one replaced by the nearest word of the catalogue and of `others`, without `x`.

    >>> corrected("balanse batch"), corrected("300 x sparsity"), corrected("zebra"), corrected("zebar", ["a zebra"])
    ('balance batch', '300 sparsity', 'zebra', 'zebra')
    """
    from difflib import get_close_matches

    known = (*_known_words(), *(word for other in others for word in _words(other)))
    kept = [word for word in _words(text) if word not in _FILLERS] or [*_words(text)]
    unknown = [word for word in kept if len(word) > _STEM and not _has_words((word,), " ".join(known))]
    # All letters agree except one.
    near = {word: get_close_matches(word, known, 1, 0.999 - 1 / len(word)) for word in unknown}
    return " ".join(near[word][0] if near.get(word) else word for word in kept)


@lru_cache(1)
def _known_words() -> tuple[str, ...]:
    """Return all words of the names, titles and meanings of the catalogue."""
    texts = (*(f"{row.name} {row.meaning}" for row in QUANTITIES.values()), *(f"{row.id} {row.title}" for row in by_id().values()))
    return tuple(dict.fromkeys(word for text in texts for word in _words(text.replace("_", " "))))


def is_word(text: str) -> bool:
    """Return whether every word of a text is a part of a name or an id.

    >>> is_word("kv"), is_word("balance batch"), is_word("batc")
    (True, True, False)
    """
    known = {word for name in (*QUANTITIES, *by_id()) for word in _words(name.replace("_", " "))} | ALSO_CALLED.keys() | ALIASES.keys()
    return bool(_words(text)) and (known >= {*_words(text)} or _name_from(text) in ALSO_CALLED)


@lru_cache(4096)
def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[a-z0-9]+", re.sub(r"(?<=\d)x\b", " x", text.lower())))


def mentions(words: str, text: str) -> bool:
    """Return whether a text has all of some words.

    >>> mentions("kv bytes", "KV bytes per token"), mentions("predict", "Prediction: disk"), mentions("ilya", "disk")
    (True, True, False)
    """
    return _has_words(_words(words), text)


def _has_words(wanted: Sequence[str], text: str) -> bool:
    """Return whether a text has all the words. Long words match the beginning of its words."""
    there = _words(text)
    return all(word in there or (len(word) >= _STEM and any(one.startswith(word) for one in there)) for word in wanted)
