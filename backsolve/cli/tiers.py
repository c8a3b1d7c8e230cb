"""The answer to `solve storage_tier ttl=...`: devices ranked by the drain-time rule, with the record of that rule."""

import json
import re
from math import log

from backsolve.streams import tell
from derive.catalogue import equation
from derive.errors import WrongValue
from derive.preset_rows import MemoryTierFigure
from derive.quantities import quantity
from derive.show.layout import align_columns
from derive.tables.shipped import in_si, rows_of
from derive.tables.writing import line_text
from derive.units import parse, show
from invert.data import read_data
from invert.storage.tariffs import disclosed_cases
from invert.storage.tiers import TIERS_OF

_RULE, _MOST = equation("cache.drain_time_rule"), 8
"""The rule, and the number of listed devices without --full."""
_NAMES = ("tier", "device", "drain_time", "drain_time_over_ttl")


def ranked_devices(ttl: float) -> list[tuple[str, str, float, float]]:
    """Return the devices of memory_tiers.csv with drain time [s] and drain time over lifetime, the nearest to the lifetime [s] first.

    >>> ranked_devices(300.0)[0][:3]
    ('flash', 'Micron 9650 7.68 TB PCIe 6', 274.2857142857143)
    """
    rows = [row for row in rows_of(MemoryTierFigure) if row.quantity == "drain_time" and row.device not in ("lecture", "range")]
    found = [(row.tier, row.device, time, time / ttl) for row in rows for time in (in_si("drain_time", row.value, row.unit),)]
    return sorted(found, key=lambda one: abs(log(one[3])))


def print_tiers(given: tuple[str, ...], style: str, full: bool) -> None:
    """Print the tiers for one lifetime or a list of them, as text, JSON or CSV."""
    name, _, text = given[0].partition("=") if len(given) == 1 and not re.search(r"[<>≤≥±]|\.\.", given[0]) else ("", "", "")
    if not text or quantity(name).name != "ttl" or style not in ("table", "json", "csv"):
        raise WrongValue("storage_tier needs only ttl, one or several, as table, json or csv: backsolve solve storage_tier ttl=5min,1h")
    found = [(ttl, ranked_devices(ttl)) for one in re.split("[,;]", text) for ttl in (quantity("ttl").check(parse("ttl", one)),)]
    cases = disclosed_cases(read_data())
    right = sum(ranked_devices(case.ttl_seconds)[0][0] in TIERS_OF[case.disclosed] for case in cases)
    if style == "csv":
        tell("\n".join(line_text(row) for row in (("ttl", *_NAMES), *((ttl, *one) for ttl, devices in found for one in devices))), style)
        return
    if style == "json":
        same = {
            "unknown": "storage_tier", "unit": "1", "basis": "rule", **{key: [_RULE.reference] for key in ("by", "equations")},
            "record": {"right": right, "cases": len(cases)}, "assumptions": [], "provenance": {"ttl": "given"}, "reason": None,
        }  # fmt: skip
        all_of = [{**same, "given": {"ttl": ttl}, "answers": [dict(zip(_NAMES, one, strict=True)) for one in rows]} for ttl, rows in found]
        tell(json.dumps(all_of if len(all_of) > 1 else all_of[0], indent=2, allow_nan=False), style)
        return
    for ttl, devices in found:
        tell(f"storage_tier = {devices[0][0]} for ttl = {show('ttl', ttl)}, by {_RULE.rule}")
        rows = [[tier, device, show("drain_time", time), f"{over:.3g}"] for tier, device, time, over in devices[: None if full else _MOST]]
        tell("\n".join([*align_columns([["tier", "device", "drain time", "over ttl"], *rows], left=[0, 1]), ""]))
    more = "" if full else " (all devices: --full)"
    tell(f"Record       right for {right} of {len(cases)} lifetimes whose tier a vendor disclosed{more}")
    tell(f"Cite         backsolve cite {_RULE.id}")
