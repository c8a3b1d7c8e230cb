"""Build the index of the search: the words of every page, as data for one script."""

import re
from collections.abc import Iterable
from textwrap import shorten

from backsolve.site.writing import Entry

_SUMMARY = 110
"""The most characters of the summary below the title of a page."""
_SHORTEST = 2
"""Letters of the shortest word in the index."""


def search_index(entries: Iterable[Entry]) -> list[list[str]]:
    """Return title, kind, address and summary of every entry, and once each word that is not in these.

    >>> search_index([Entry(title="A", kind="k", address="a", summary="one line", words="one line, two line")])
    [['A', 'k', 'a', 'one line', 'two']]
    """
    return [_row(entry) for entry in entries]


def _row(entry: Entry) -> list[str]:
    summary = shorten(entry.summary, _SUMMARY, placeholder=" …")
    shown = words_in(f"{entry.title} {entry.kind} {summary}")
    words = dict.fromkeys(one for one in words_in(entry.words) if one not in shown)
    return [entry.title, entry.kind, entry.address, summary, " ".join(words)]


def words_in(text: str) -> list[str]:
    """Return the words of a text in lower case. Names keep their underscores and dots.

    >>> words_in("See roofline.step_time, 24 ms.")
    ['see', 'roofline.step_time', '24', 'ms']
    """
    return [word for word in re.findall(r"\w+(?:[._-]\w+)*", text.lower()) if len(word) >= _SHORTEST]
