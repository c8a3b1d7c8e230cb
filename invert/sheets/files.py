"""A price file that was read, and the form of a typed sheet."""

import re

from derive.immutable import immutable


@immutable(kw_only=False)
class FileText:
    """The bytes of a file as they were read, and how messages name it.

    `rates` are US dollars for one unit of a currency, for the rows of a price file that have no rate of their own. `typed` has the name
    of a typed sheet at the end of a price file, and the number of its first row: messages name its prices, not their rows.
    """

    place: str
    content: bytes
    rates: tuple[tuple[str, float], ...] = ()
    typed: tuple[str, int] | None = None


def is_typed_sheet(text: str) -> bool:
    """Return whether a text is a sheet and not the name of a file: it has parts or begins with an amount, and has no file type."""
    return bool(re.match(r"(?!.*\.[A-Za-z]+$)(.*;|\s*([A-Z]{3}\s+)?\W?[.,]?[0-9][0-9.,]*\s*/)", text))
