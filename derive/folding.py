"""Lines made to fit a width: broken between words, the rest hung under where the text of the line begins."""

import re
from textwrap import wrap

NARROWEST = 20
GAP = re.compile(r" {2,}")


def folded(text: str, width: int) -> str:
    """The text with each of its lines that is wider broken between words; a word that is wider stays whole.

    >>> print(folded("assumes     a pass takes one period, and the next batch has room", 40))
    assumes     a pass takes one period, and
                the next batch has room
    """
    return "\n".join(part for line in text.split("\n") for part in _broken(line, max(width, NARROWEST)))


def _broken(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    if not line.strip("─-"):  # a rule under a heading
        return [line[:width]]
    hang = _hang(line, width)
    wrapped = wrap(
        line[hang:], width, initial_indent=line[:hang], subsequent_indent=" " * hang, break_long_words=False, break_on_hyphens=False
    )
    return wrapped


def _hang(line: str, width: int) -> int:
    """Where the lines that follow begin: under the text after a label, or a little further in than the line itself."""
    labels = [gap.end() for gap in GAP.finditer(line) if gap.end() <= width // 2]
    if labels and line[: labels[0]].strip():
        return labels[0]
    indent = len(line) - len(line.lstrip())
    return min(labels[-1] if len(labels) > 1 else indent + 4, width // 2)
