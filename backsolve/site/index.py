"""The index of the search: what every page has to be found by, as data for one script."""

import re
from collections.abc import Iterable

from backsolve.site.writing import Entry

_SUMMARY = 110
"""Characters of what is said of a page below its title."""
_SHORTEST = 2
"""Letters of the shortest word that is looked for."""


def search_index(entries: Iterable[Entry]) -> list[list[str]]:
    """Of every entry its title, kind, address, a line about it, and the words that are in none of these, each once.

    >>> search_index([Entry(title="A", kind="k", address="a", summary="one line", words="one line, two line")])
    [['A', 'k', 'a', 'one line', 'two']]
    """
    return [_row(entry) for entry in entries]


def _row(entry: Entry) -> list[str]:
    summary = entry.summary if len(entry.summary) <= _SUMMARY else entry.summary[:_SUMMARY].rpartition(" ")[0] + " …"
    shown = words_in(f"{entry.title} {entry.kind} {summary}")
    return [
        entry.title,
        entry.kind,
        entry.address,
        summary,
        " ".join(dict.fromkeys(one for one in words_in(entry.words) if one not in shown)),
    ]


def words_in(text: str) -> list[str]:
    """The words of a text in small letters, names with their underscores and dots.

    >>> words_in("See roofline.step_time, 24 ms.")
    ['see', 'roofline.step_time', '24', 'ms']
    """
    return [word for word in re.findall(r"\w+(?:[._-]\w+)*", text.lower()) if len(word) >= _SHORTEST]
