"""What the catalogue has of a word: quantities and equations by name, symbol and meaning, and by the time at which it was said."""

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
"""From which likeness on two names are taken for one misspelled."""

_STEM = 4
"""Letters from which on the beginning of a word is enough."""

TALK = "talk"
_FILLERS = frozenset(("x", "times", "by"))
"""Words that stand between two factors."""
_TIME = re.compile(r"(?:(?P<hours>[0-9]{1,2}):)?(?P<minutes>[0-9]{1,2}):(?P<last>[0-5][0-9])")


def quantities_about(text: str) -> list[Quantity]:
    """The quantities of a word or words, best first: called so, named with it, misspelled, then spoken of in their meaning.

    >>> [row.name for row in quantities_about("t_kv")], quantities_about("tpot")[0].name
    (['kv_time'], 'step_time')
    """
    from difflib import get_close_matches

    wanted, name = _words(text), _as_name(text)
    alike = get_close_matches(name, QUANTITIES, len(QUANTITIES), _ALIKE) if len(name) >= _STEM else []
    ranks = ((_rank(name, wanted, row, alike), len(row.name), row.name) for row in QUANTITIES.values())
    ranked = sorted(one for one in ranks if one[0])
    return [QUANTITIES[name] for _, _, name in ranked]


def _as_name(text: str) -> str:
    return text.strip().lower().replace(" ", "_").replace("-", "_")


def _rank(name: str, wanted: Sequence[str], row: Quantity, alike: Collection[str] = ()) -> int:
    """How near a quantity is to what was typed, 1 the nearest; 0 for not at all. A name misspelled is one of those that are alike."""
    plain = in_full(name)
    called = (*ALIASES.get(name, ALIASES.get(plain, ())), *ALSO_CALLED.get(plain, ()))
    if row.name in (name, plain, *called) or (row.symbol.lower() == name and len(name) > 1):
        return 1
    parts = row.name.split("_")
    if wanted and all(word in parts or (len(word) >= _STEM and any(part.startswith(word) for part in parts)) for word in wanted):
        return 2
    if row.name in alike:
        return 3
    return 4 if wanted and _in(wanted, row.meaning) else 0


def equations_about(text: str, among: Iterable[Equation] | None = None) -> list[Equation]:
    """The equations of a word or words: in their id or title first, then of a quantity called so, then in what they state.

    >>> [row.id for row in equations_about("balance batch")][:2]
    ['batching.balance_batch', 'batching.balance_batch_with_kv']
    """
    wanted, rows = _words(text), [*(by_id().values() if among is None else among)]
    names = {row.name for row in QUANTITIES.values() if _rank(_as_name(text), wanted, row) in (1, 2)}
    if not wanted:
        return []
    return sorted((row for row in rows if _place(row, wanted, names)), key=lambda row: _place(row, wanted, names))


def _place(row: Equation, wanted: Sequence[str], names: set[str]) -> int:
    """How near an equation is to a word, 1 the nearest; 0 for not at all."""
    of_the_id = re.split(r"[._]", row.id)
    found = (
        all(word in of_the_id for word in wanted),
        _in(wanted, f"{' '.join(of_the_id)} {row.title}"),
        row.defines in names,
        not names.isdisjoint(row.symbols),
        _in(wanted, " ".join((row.statement, *row.assumptions, *(source.said for source in row.sources)))),
    )
    return found.index(True) + 1 if any(found) else 0


def equations_at(time: str) -> list[Equation]:
    """The equations of what was said at a time of the lecture, h:mm or h:mm:ss; raises WrongValue for what is no time.

    Of a minute all that was said in it. 19:30 is in the first hour, as no lecture has nineteen.

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
    """The seconds of a time: a minute for h:mm, one for h:mm:ss and, from ten hours on, for mm:ss."""
    match = _TIME.fullmatch(time.strip())
    if match is None:
        raise WrongValue(f"{shorten(time)} is no time of the lecture: write it as 0:19 or 0:19:30")
    hours, minutes, last = (int(part or 0) for part in match.group("hours", "minutes", "last"))
    if match["hours"] is not None:
        at = 3600 * hours + 60 * minutes + last
        return at, at + 1
    if minutes > 9:
        return 60 * minutes + last, 60 * minutes + last + 1
    at = 3600 * minutes + 60 * last
    return at, at + 60


def is_time(text: str) -> bool:
    """Return whether a text is written as a time of the lecture.

    >>> is_time("0:19:16"), is_time("batch")
    (True, False)
    """
    return _TIME.fullmatch(text.strip()) is not None


def corrected(text: str) -> str:
    """Return words with each that the catalogue does not have replaced by the nearest that it has, without numbers and `x`.

    >>> corrected("balanse batch"), corrected("300 x sparsity"), corrected("zebra")
    ('balance batch', '300 sparsity', 'zebra')
    """
    from difflib import get_close_matches

    known = _known_words()
    kept = [word for word in _words(text) if word not in _FILLERS] or [*_words(text)]
    unknown = [word for word in kept if len(word) > _STEM and not _in((word,), " ".join(known))]
    # All letters but one agree.
    near = {word: get_close_matches(word, known, 1, 0.999 - 1 / len(word)) for word in unknown}
    return " ".join(near[word][0] if near.get(word) else word for word in kept)


@lru_cache(1)
def _known_words() -> tuple[str, ...]:
    """Return all words of the names, titles and meanings of the catalogue."""
    texts = (*(f"{row.name} {row.meaning}" for row in QUANTITIES.values()), *(f"{row.id} {row.title}" for row in by_id().values()))
    return tuple(dict.fromkeys(word for text in texts for word in _words(text.replace("_", " "))))


def is_word(text: str) -> bool:
    """Whether every word of a text is a part of a name or an id.

    >>> is_word("kv"), is_word("balance batch"), is_word("batc")
    (True, True, False)
    """
    known = {word for name in (*QUANTITIES, *by_id()) for word in _words(name.replace("_", " "))} | ALSO_CALLED.keys() | ALIASES.keys()
    return bool(_words(text)) and known >= {*_words(text)}


@lru_cache(4096)
def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[a-z0-9]+", text.lower()))


def mentions(words: str, text: str) -> bool:
    """Return whether a text has all of some words.

    >>> mentions("kv bytes", "KV bytes per token"), mentions("predict", "Prediction: disk"), mentions("ilya", "disk")
    (True, True, False)
    """
    return _in(_words(words), text)


def _in(wanted: Sequence[str], text: str) -> bool:
    """Whether a text holds all the words, of long ones the beginning."""
    there = _words(text)
    return all(word in there or (len(word) >= _STEM and any(one.startswith(word) for one in there)) for word in wanted)
