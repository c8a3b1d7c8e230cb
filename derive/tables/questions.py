"""Read the cells of claims.csv and problems.csv: the stated number or range, the unknown, and the givens."""

import shlex
from collections.abc import Mapping
from dataclasses import field

from derive.errors import UnknownName, WrongValue, shorten
from derive.immutable import immutable
from derive.quantities import quantity
from derive.tables.cells import read_date, read_number
from derive.units import named_texts, parse

_SOURCES = ("hardware", "model", "sheet", "device", "disclosed")
"""Givens that name rows of a table: an accelerator, an architecture, a price list on a day, a memory device, a disclosure of a vendor."""
_USING = "using"
"""Given of the equations that a question joins by their ids, separated by commas."""
_SWITCHES = ("overlap", "count", "bytes", "efficiency", "anyway")
"""Options of a question, written with their dashes: `--overlap=sum`. Without them `overlap` is a quantity."""


@immutable
class Givens:
    """The inputs of a question: rows of tables by their names, values as unread text by registry name, equation ids, and options."""

    rows: dict[str, str]
    texts: dict[str, str]
    using: tuple[str, ...] = ()
    switches: Mapping[str, str] = field(default_factory=dict)


def unknown_names(unknown: str) -> tuple[str, ...]:
    """Return the name of the unknown quantity, or both names of a quotient. Raise UnknownName for an unknown name."""
    return tuple(quantity(name.strip()).name for name in unknown.split("/"))


def amount_in_si(unknown: str, text: str, unit: str) -> float:
    """Return a number with its unit as the unknown quantity [SI]. A quotient has no unit. Raise as `parse` does.

    >>> amount_in_si("ttl", "5", "min"), amount_in_si("premium_in/premium_out", "1.5", "")
    (300.0, 1.5)
    """
    names = unknown_names(unknown)
    if len(names) == 1:
        return parse(names[0], f"{text} {unit}".strip())
    if unit:
        raise WrongValue(f"{shorten(unknown)} is a quotient, and has no unit")
    return read_number(text)


def stated_range(unknown: str, stated: str, unit: str) -> tuple[float, float]:
    """Return the least and the greatest stated value [SI]. Raise as `amount_in_si` does, and for a range that falls."""
    low, _, high = stated.partition("..")
    ends = amount_in_si(unknown, low, unit), amount_in_si(unknown, high or low, unit)
    if ends[0] > ends[1]:
        raise WrongValue(f"{shorten(stated)}: a range ascends")
    return ends


def read_givens(text: str) -> Givens:
    """Return the givens `name=value;...` of a row. Raise for an unknown or blank name, and for a value that cannot be read.

    >>> read_givens("rho=300;hardware=H100:fp8").texts
    {'machine_balance_ratio': '300'}
    >>> read_givens("batch=8;using=experts.busiest_chip;--overlap=sum").switches
    {'overlap': 'sum'}
    """
    items = [item.strip() for item in text.split(";") if item.strip()]
    pairs = {name: value.strip() for name, _, value in (item.partition("=") for item in items)}
    rows = {name: value for name, value in pairs.items() if name in _SOURCES}
    if "" in rows.values():
        raise WrongValue(f"{shorten(text)} has no row after '='")
    if "sheet" in rows:
        read_date(rows["sheet"].partition("@")[2])
    switches = {name.removeprefix("--"): value for name, value in pairs.items() if name.startswith("--")}
    for switch in switches:
        if switch not in _SWITCHES:
            raise UnknownName("option", f"--{switch}", [f"--{one}" for one in _SWITCHES])
    using = tuple(id.strip() for id in pairs.get(_USING, "").split(",") if id.strip())
    texts = named_texts(item for item in items if not item.startswith("--") and item.partition("=")[0] not in (*_SOURCES, _USING))
    for name, value in texts.items():
        parse(name, value)
    return Givens(rows=rows, texts=texts, using=using, switches=switches)


def command_of(unknown: str, given: Givens) -> str:
    """Return the command that solves for a quantity from these givens.

    >>> command_of("step_time", read_givens("batch=8;chip_price=2 USD/h;hardware=H100:fp8;--overlap=sum"))
    "backsolve solve step_time --hardware H100:fp8 --overlap sum batch=8 'chip_price=2 USD/h'"
    """
    options = [(f"--{name}", value) for name, value in given.rows.items()]
    options += [("--using", id) for id in given.using] + [(f"--{name}", value) for name, value in given.switches.items()]
    words = [word for option in options for word in option if word]
    return shlex.join(["backsolve", "solve", unknown, *words, *(f"{name}={value}" for name, value in given.texts.items())])
