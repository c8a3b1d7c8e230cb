"""The place of a price in its sheet, as people type it: `component[@threshold][:lifetime]`."""

import re
from collections.abc import Mapping

from derive.errors import UnknownName, WrongValue, shorten
from derive.tables.cells import token_count
from invert.sheets.rules import COMPONENTS

_TOKENS = {"": 1, "k": 1_000, "M": 1_000_000}
_SECONDS = {"": 1, "s": 1, "min": 60, "h": 3600}
Place = tuple[str, int, int | None]
"""Component, threshold [token] and lifetime [s] of a price in its sheet."""


def typed_place(spec: str) -> Place:
    """Return the place of `component[@threshold][:lifetime]`, even if no sheet has it."""
    form = re.fullmatch(r"([^@:]*)(?:@([^@:]+))?(?::([0-9]{1,9})(s|min|h|))?", spec.strip())
    threshold = token_count(form[2] or "0") if form else None
    if not form or threshold is None:
        raise WrongValue(f"{shorten(spec)} is not component[@threshold][:lifetime], such as input@200k or cache_write:5min")
    component, _, lifetime, unit = form.groups()
    if component not in COMPONENTS:
        raise UnknownName("component", component, COMPONENTS)
    return component, threshold, int(lifetime) * _SECONDS[unit] if lifetime else None


def spelled(place: Place) -> str:
    """Return a place as it is typed."""
    component, threshold, lifetime = place
    return (
        component
        + (f"@{_in_largest_unit(threshold, _TOKENS)}" if threshold else "")
        + (f":{_in_largest_unit(lifetime, _SECONDS)}" if lifetime else "")
    )


def _in_largest_unit(count: int, units: Mapping[str, int]) -> str:
    """Return a count in the largest unit that divides it."""
    unit = max((unit for unit, size in units.items() if count % size == 0), key=units.__getitem__)
    return f"{count // units[unit]}{unit}"


def name_price(sheet: str, cells: Mapping[str, str]) -> str:
    """Return the name of a typed price in messages, from the cells of its row."""
    threshold, lifetime = (int(cells.get(column) or 0) for column in ("threshold_tokens", "ttl_seconds"))
    return f"{shorten(sheet)} {spelled((cells['component'], threshold, lifetime or None))}"
