"""Build the index of the search: the words of a page or of a part of a page, as a row of data for a script."""

import re
from textwrap import shorten

_SUMMARY = 110
"""The most characters of the summary below the title of a page."""
_SHORTEST = 2
"""Letters of the shortest word in the index."""


def search_row(kind: str, title: str, address: str, summary: str, words: str) -> list[str]:
    """Return title, kind, address and summary of a result of the search, and once each word that is not in these.

    >>> search_row("k", "A", "a", "one line", "one line, two line")
    ['A', 'k', 'a', 'one line', 'two']
    """
    summary = shorten(summary, _SUMMARY, placeholder=" …")
    shown = words_in(f"{title} {kind} {summary}")
    others = dict.fromkeys(one for one in words_in(words) if one not in shown)
    return [title, kind, address, summary, " ".join(others)]


def words_in(text: str) -> list[str]:
    """Return the words of a text in lower case. Names keep their underscores and dots.

    >>> words_in("See roofline.step_time, 24 ms.")
    ['see', 'roofline.step_time', '24', 'ms']
    """
    return [word for word in re.findall(r"\w+(?:[._-]\w+)*", text.lower()) if len(word) >= _SHORTEST]
