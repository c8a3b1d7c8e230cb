"""How the cells of claims.csv are read: what was said, as a number or a range, what is asked, and what is given for it."""

from dataclasses import dataclass

from derive.errors import WrongValue, shorten
from derive.quantities import quantity
from derive.shipped_rows import figure
from derive.units import named_texts, parse

SOURCES = ("hardware", "model", "sheet", "device", "disclosed")
"""Givens that stand for rows of a table: an accelerator, an architecture, a price list, a memory device, what a vendor said."""
AGREES = ("reproduced", "under a stated convention")
DIFFERS = ("loose", "contradicted by data")
UNDECIDED = "not decidable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Givens:
    """What a claim is worked out from: rows of tables by their names, and values as unread text by registry name."""

    rows: dict[str, str]
    texts: dict[str, str]


def asked(unknown: str) -> tuple[str, ...]:
    """The quantity that is asked for, or the two of a quotient; raises UnknownName for what is none.

    >>> asked("B_star"), asked("scale_up_link_bandwidth/scale_out_link_bandwidth")
    (('balance_batch',), ('scale_up_link_bandwidth', 'scale_out_link_bandwidth'))
    """
    return tuple(quantity(name.strip()).name for name in unknown.split("/"))


def amount(unknown: str, text: str, unit: str) -> float:
    """A number in a unit as the quantity that is asked for [SI]; that of a quotient has none. Raises as `parse` does.

    >>> amount("ttl", "5", "min"), amount("premium_in/premium_out", "1.5", "")
    (300.0, 1.5)
    """
    names = asked(unknown)
    if len(names) == 1:
        return parse(names[0], f"{text} {unit}".strip())
    if unit:
        raise WrongValue(f"{shorten(unknown)} is a quotient, and has no unit")
    return figure(text)


def said(unknown: str, stated: str, unit: str) -> tuple[float, float]:
    """The least and the greatest value that was said [SI]; raises as `amount` does, and for a range that falls.

    >>> said("drain_time", "1..10", "s"), said("sparsity", "8", "")
    ((1.0, 10.0), (8.0, 8.0))
    """
    low, _, high = stated.partition("..")
    ends = amount(unknown, low, unit), amount(unknown, high or low, unit)
    if ends[0] > ends[1]:
        raise WrongValue(f"{shorten(stated)}: a range ascends")
    return ends


def givens(text: str) -> Givens:
    """The givens `name=value;...` of a claim; raises for what is none, and for a value that cannot be read.

    >>> givens("rho=300;hardware=H100:fp8")
    Givens(rows={'hardware': 'H100:fp8'}, texts={'machine_balance_ratio': '300'})
    """
    items = [item.strip() for item in text.split(";") if item.strip()]
    rows = {name: value.strip() for name, _, value in (item.partition("=") for item in items) if name in SOURCES}
    if "" in rows.values():
        raise WrongValue(f"{shorten(text)} names no row after '='")
    texts = named_texts(item for item in items if item.partition("=")[0] not in SOURCES)
    for name, value in texts.items():
        parse(name, value)
    return Givens(rows=rows, texts=texts)
