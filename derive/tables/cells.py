"""Cells of tables as values, by the description of their column: each wrong cell gets a message that says what to write."""

import datetime
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from math import inf
from sys import float_info, intern
from typing import Any

from derive.errors import WrongData, WrongValue, hidden, is_same, mark_in_words, mistaken, plain_word, shorten, skeleton, suggest, unseen
from derive.immutable import immutable
from derive.tables.writing import begins_as_formula

CELL_LIMIT = 10_000
"""The most characters of a cell."""
_SMALLEST, _LARGEST = 1e-20, 1e20
"""The range of all figures, in any unit. Powers of figures outside it would overflow."""
_ABSURD = f"is absurd: values are between {_SMALLEST:g} and {_LARGEST:g}"
NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_FORMULA_ERROR, _TOO_NARROW = re.compile(r"#(?:[A-ZÜ_]+[!?]|N/A|NV|DIV/0!)"), re.compile("#{3,}")
"""The text of spreadsheets in place of a value: #REF!, #NV and similar after an error, ######## in a narrow column."""
_HARMLESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .:/_-]{0,200}")
"""Pattern of most cells: no character that a spreadsheet or a terminal interprets."""
_CACHED = 1024
"""Cells of a column that are read once: rows of a large file repeat their cells."""


@immutable(eq=False)
class Column:
    """A described column. `read` returns the value of a cell and "", or None and the fault of the cell."""

    name: str
    required: bool
    read: Callable[[str], tuple[Any, str]]


def column_of(field: Mapping[str, Any]) -> Column:
    """Return the column of a field of datapackage.json. Beyond the standard, a field may have a `default` for blank cells,
    and `other_names`: by a word that is not allowed, an allowed one or advice.

    A number is above zero unless the field has a minimum. A pattern defines the allowed first character. A cell without a pattern may not
    begin like a spreadsheet formula.

    >>> read = column_of({"name": "layers", "type": "integer"}).read
    >>> read("61"), read(""), read("0")
    ((61, ''), (None, ''), (None, 'is zero. Leave the cell blank if there is no value'))
    >>> read("61.0")
    (None, "'61.0' is not a whole number. Write 61")
    """
    limits, kind = field.get("constraints", {}), field["type"]
    to_value, default, required = _READERS[kind], field.get("default", ""), bool(limits.get("required"))
    blank = () if kind == "list" else "" if kind == "string" else None
    is_number = kind in ("number", "integer", "tokens")
    signs = "" if "pattern" in limits or "enum" in limits else "=@+-" if kind in ("string", "list") else "=@"

    @lru_cache(_CACHED)
    def read(text: str) -> tuple[Any, str]:
        text = text or default
        if not text:
            return (None, f"is blank. Write {'true or false' if kind == 'boolean' else 'a value'}") if required else (blank, "")
        try:
            refuse_hostile(text, signs)
            if text not in limits.get("enum", (text,)):
                meant = field.get("other_names", {}).get(plain_word(text))
                near = f"; did you mean {meant!r}?" if meant in limits["enum"] else meant or suggest(text, filter(None, limits["enum"]))
                raise WrongData(f"{shorten(text)} is not known{near}")
            if "pattern" in limits and not re.fullmatch(limits["pattern"], text):
                raise WrongData(_pattern_message(text, limits["pattern"], field.get("example", limits["pattern"])))
            value = to_value(text)
            if is_number:
                _refuse_out_of_range(value, limits, required)
            elif kind == "date" and not limits.get("minimum", text) <= text <= limits.get("maximum", text):
                side = f"{limits['maximum']} or earlier" if text > limits.get("maximum", text) else f"{limits['minimum']} or later"
                raise WrongData(f"{text} is out of range: it must be {side}")
        except (WrongData, WrongValue) as error:
            return None, str(error)
        return value, ""

    # Interned, because Python finds the arguments of a record by identity first.
    return Column(name=intern(field["name"]), required=required, read=read)


def _pattern_message(text: str, pattern: str, example: str) -> str:
    """Return the message on a cell of the wrong form, with the look-alike character if there is one."""
    plain = skeleton(text)
    if not is_same(text, plain) and re.fullmatch(pattern, plain):
        return f"{shorten(text)} looks like {shorten(plain)} and is not: {mistaken(text, plain)}"
    return f"{shorten(text)} does not have the form of {example}"


def refuse_hostile(text: str, formula_signs: str) -> None:
    """Raise WrongValue for a hidden character, a formula or an error of a spreadsheet, and a cell that is too long."""
    if _HARMLESS.fullmatch(text):
        return
    if len(text) > CELL_LIMIT:
        raise WrongValue(f"the cell holds {len(text)} characters, more than {CELL_LIMIT}")
    if found := hidden(text):
        raise WrongValue("the cell holds " + ("a NUL byte" if found == "\0" else f"the {mark_in_words(found)}") + ", which is invisible")
    if _FORMULA_ERROR.fullmatch(text):
        raise WrongValue(f"{shorten(text)} is the error text of a spreadsheet formula: write the value instead")
    if _TOO_NARROW.fullmatch(text):
        raise WrongValue(f"{shorten(text)} is what a spreadsheet shows in a narrow column: make the column wider and save the file again")
    if formula_signs and begins_as_formula(text, formula_signs):
        raise WrongValue(f"{shorten(text)} is a spreadsheet formula: a cell may not begin with {text[0]!r}")


def _refuse_out_of_range(value: float, limits: Mapping[str, Any], required: bool) -> None:
    low, high = limits.get("minimum", 0), limits.get("maximum", inf)
    if not value and not required and (low > 0 or "minimum" not in limits):
        raise WrongData("is zero. Leave the cell blank if there is no value")
    if value < low or value > high or (value == 0 and "minimum" not in limits):
        least = f"{low:g} or more" if "minimum" in limits else "above 0"
        raise WrongData(f"{value:g} is out of range: it must be {least}" + (f", at most {high:g}" if high < inf else ""))
    if value and not _SMALLEST < value < _LARGEST:
        raise WrongData(f"{value:g} {_ABSURD}")


# Numbers.


def read_number(text: str) -> float:
    """Return the value of a plain decimal, with or without an exponent. Raise WrongData for any other text, NaN and infinity included."""
    if not NUMBER.fullmatch(text.removeprefix("-")):
        dated = ": a spreadsheet took it for a date" if re.fullmatch(_SHORT_DATE, text) else ""
        plain = plain_number(text) or "a plain 1.25 or 1e-3, without unit, sign or separator"
        raise WrongData(f"{shorten(text)} is not a number{unseen(text)}{dated}. Write {plain}")
    if text.startswith("-"):
        raise WrongData(f"{shorten(text)} is negative")
    value = float(text)
    if value == inf or (value < float_info.min and re.match("[0.]*[1-9]", text)):
        raise WrongData(f"{shorten(text)} {_ABSURD}")
    return value


_QUOTES = "'\"`´“”„‘’‚«» "
_DECIMAL_COMMA = "0,[0-9]+|[1-9][0-9]*,(?![0-9]{3}$)[0-9]+"
_GROUPED = "[0-9]{1,3}(?P<mark>[., '’])[0-9]{3}(?:(?P=mark)[0-9]{3})*(?P<rest>(?!(?P=mark))[.,][0-9]+)?"


def plain_number(text: str) -> str:
    """Return the plain decimal that a number in quotes or in the style of another language means, or "" if it may mean two.

    >>> plain_number("'10"), plain_number("2,5"), plain_number("1.000,50"), plain_number("1,234.5"), plain_number("1,000")
    ('10', '2.5', '1000.50', '1234.5', '')
    """
    bare = text.strip(_QUOTES)
    if NUMBER.fullmatch(bare):
        return bare
    if re.fullmatch(_DECIMAL_COMMA, bare):
        return bare.replace(",", ".")
    form = re.fullmatch(_GROUPED, bare)
    if not form or (form["mark"] == "," and bare.count(",") == 1 and not form["rest"]):
        return ""
    rest = form["rest"] or ""
    return bare.removesuffix(rest).replace(form["mark"], "") + rest.replace(",", ".")


_SECONDS = {"min": 60, "h": 3_600, "d": 86_400}
_MULTIPLES = {"": 1, "k": 1_000, "m": 1_000_000}


def token_count(text: str) -> int | None:
    """Return the number of tokens that a text means, such as 200k or 1M in either case, or None if it is not a whole number.

    >>> token_count("131072"), token_count("200K"), token_count("0.2M"), token_count("200.000"), token_count("0.0001k")
    (131072, 200000, 200000, None, None)
    """
    form = re.fullmatch(r"([0-9]{1,9})|([0-9]{1,9}(?:\.[0-9]{1,6})?)([km])", text, re.IGNORECASE)
    if not form:
        return None
    whole, count, letter = form.groups()
    found = Decimal(whole or count) * _MULTIPLES[(letter or "").lower()]
    return int(found) if found == int(found) else None


def read_whole(text: str, unit: str = "") -> int:
    """Return a whole number of at most twelve digits. `unit` says in a message what it counts. Raise WrongData for any other text."""
    if re.fullmatch("-[0-9]+([.,][0-9]+)*", text):
        raise WrongData(f"{shorten(text)} is negative")
    if re.fullmatch("[0-9]{13,}", text):
        raise WrongData(f"{shorten(text)} is too large. Write at most 12 digits")
    if not re.fullmatch("[0-9]{1,12}", text):
        raise WrongData(f"{shorten(text)} is not a whole number{unit}{_whole_meant(text) or ('' if unit else '. Write digits only')}")
    return int(text)


def _whole_meant(text: str) -> str:
    """Return a hint such as "write 200000" for the whole number that a text means, or "" if that is not clear.

    >>> _whole_meant("200k"), _whole_meant("200,000"), _whole_meant("200000.0"), _whole_meant("2E+05"), _whole_meant("200.000")
    ('. Write 200000', '. Write 200000', '. Write 200000', '. Write 200000', '')
    """
    if form := re.fullmatch("([0-9]{1,6}) ?(min|h|d)", text):
        return f". Write {int(form[1]) * _SECONDS[form[2]]}"
    # 5m may be five minutes.
    if not text.endswith("m") and (found := token_count(text)):
        return f". Write {found}"
    # 200.000 may be two hundred, or two hundred thousand.
    plain = "" if re.fullmatch(r"[0-9]{1,3}\.[0-9]{3}", text) else plain_number(text.replace(",", " "))
    return f". Write {value:.0f}" if plain and (value := float(plain)).is_integer() and value < 1e12 else ""


def read_tokens(text: str) -> int:
    """Return a number of tokens. `1M` and `200k` are allowed."""
    found = token_count(text)
    return read_whole(text if found is None else str(found), " of tokens such as 131072, 200k or 1M")


# Other values.


def read_truth(text: str) -> bool:
    """Return the value of `true` or `false` in any case, because a spreadsheet writes capitals. Raise WrongData for any other text."""
    if text.lower() not in ("true", "false"):
        raise WrongData(f"{shorten(text)} is not a truth value. Write true or false")
    return text.lower() == "true"


@lru_cache(4096)
def read_date(text: str) -> datetime.date:
    """Return an ISO date. Raise WrongData for any other text."""
    try:
        # `fromisoformat` alone also allows 20261120 and 2026-W47-5.
        if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            return datetime.date.fromisoformat(text)
    except ValueError:
        pass
    raise WrongData(f"{shorten(text)} is not an ISO date such as 2026-11-20{_spreadsheet_date(text)}")


_FIRST_OF_SPREADSHEETS = datetime.date(1899, 12, 30)
"""Day 0 of spreadsheets."""
_SHORT_DATE = (
    "[0-9]{1,2}[-. ](?![A-Z]{3}$)[A-Za-z]{3,4}(?:[-. ][0-9]{2,4})?|[A-Za-z]{3,4}[- ][0-9]{2,4}|[0-9]{1,4}[/.][0-9]{1,2}[/.][0-9]{1,4}"
    "|[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:.]+Z?"
)
"""The text of spreadsheets for a date, or for a cell that they mistake for a date. An amount with a currency, as 8 USD, does not match."""


def _spreadsheet_date(text: str) -> str:
    """Return how a spreadsheet changed a date and how to keep it, the date with all its zeros, or "" for any other text.

    >>> _spreadsheet_date("45992"), _spreadsheet_date("2026-1-2")
    (': a spreadsheet writes 2025-12-01 as this number. Give its column the format yyyy-mm-dd', '. Write 2026-01-02')
    """
    if parts := re.fullmatch("(?=.{8,9}$)([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})", text):
        return f". Write {parts[1]}-{parts[2]:0>2}-{parts[3]:0>2}"
    if re.fullmatch("[2-6][0-9]{4}", text):
        day = _FIRST_OF_SPREADSHEETS + datetime.timedelta(days=int(text))
        return f": a spreadsheet writes {day} as this number. Give its column the format yyyy-mm-dd"
    return ": a spreadsheet writes dates in this form. Give its column the format yyyy-mm-dd" if re.fullmatch(_SHORT_DATE, text) else ""


def read_list(text: str) -> tuple[str, ...]:
    """Return the items of a cell, which are separated by semicolons."""
    return tuple(item.strip() for item in text.split(";") if item.strip())


_READERS: Mapping[str, Callable[[str], Any]] = {
    **{"string": str, "list": read_list, "boolean": read_truth, "date": read_date},
    **{"number": read_number, "integer": read_whole, "tokens": read_tokens},
}
"""Readers by the type of a field. `tokens` is an integer that may be written as 200k."""
