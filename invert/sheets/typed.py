"""A price sheet typed in one line, such as `2/12; >200k 4/18; cache .2; 1h 4.5`, as a price file."""

import re

from derive.errors import WrongValue, shorten, suggest
from invert.sheets.add import cells_of_sheet, typed_file
from invert.sheets.rows import FileText

TYPED_SHEET = "typed/sheet"
"""The name of a sheet that is typed without a file."""
_WORDS = {
    "cache": "cache_read", "write": "cache_write", "storage": "cache_storage", "context": "max_context", "released": "release_date",
    "currency": "currency", "rate": "usd_rate",
}  # fmt: skip
"""The words before an amount or a fact, with the price or the field of a sheet that each one names."""
_BASE = re.compile(r"(?:([A-Z]{3})\s+)?([^/\s;]+)\s*/\s*([^/\s;]+)(?:\s+([A-Z]{3}))?")
_BAND = re.compile(r">\s*([^\s/]+)\s+([^/\s]+)\s*/\s*([^/\s]+)")
_LIFETIME = re.compile(r"[0-9]{1,9}(?:s|min|h)")
_ALLOWED = "2/12 or EUR 2/12 (input/output), >200k 4/18, cache .2, 1h 4.5 (cache write kept for 1 h), storage 4.5 (per hour), " + ", ".join(
    ("context 1M", "released 2026-11-20", "rate 1.08 (USD for one EUR)")
)


def typed_sheet(text: str) -> FileText:
    """Return the price file of a typed sheet. Its name in messages and commands is the typed text.

    >>> typed_sheet("2/12; >200k 4/18; 1h 4.5").content.decode().splitlines()[-1]
    'typed,sheet,cache_write,4.5,,3600'
    >>> typed_sheet("EUR 2/12").content.decode().splitlines()[-1]
    'typed,sheet,output,12,EUR'
    """
    items: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        for name, amount in _prices_of(part).items():
            if name in items:
                raise WrongValue(f"{shorten(part)}: {name} is given twice")
            items[name] = amount
    return typed_file(text, text, cells_of_sheet(TYPED_SHEET, items))


def _prices_of(part: str) -> dict[str, str]:
    """Return the prices and fields that one part between semicolons names."""
    if band := _BAND.fullmatch(part):
        threshold, above_in, above_out = band.groups()
        return {f"input@{threshold}": above_in.lstrip("$"), f"output@{threshold}": above_out.lstrip("$")}
    if base := _BASE.fullmatch(part):
        before, amount_in, amount_out, after = base.groups()
        currency = {"currency": before or after} if before or after else {}
        return {"input": amount_in.lstrip("$"), "output": amount_out.lstrip("$"), **currency}
    word, _, rest = part.partition(" ")
    if rest.strip() and _LIFETIME.fullmatch(word):
        return {f"cache_write:{word}": rest.strip().lstrip("$")}
    if rest.strip() and word in _WORDS:
        return {_WORDS[word]: rest.strip().lstrip("$")}
    near = "" if word in _WORDS else suggest(word, _WORDS)
    raise WrongValue(f"{shorten(part)} is not a price of a sheet{'' if near.startswith('; allowed') else near}; allowed: {_ALLOWED}")
