"""What one sheet implies: the three readings and the better estimates, each with its range and how often it was right before."""

from collections.abc import Iterable

from invert.records import Estimate, TierEvidence
from invert.report.columns import ABSENT, lecture_record, short_kv
from invert.report.layout import NONE, Table, aligned, billions, two_digits
from invert.report.size import how_stated
from invert.report.tiers import DRAIN_TIMES_OF_LECTURE, any_of, lifetime, worst_record
from invert.result import EXTRAPOLATED, Inference, Run

_NEVER_CHECKED = "never checked"
_BY_PRICE = ("implied drain time", "price level")
"""Rules of the cache tier that read a price; another one is named."""
_GAP = 2
_UNITS = {"kv_bytes_per_token": (1e3, " kB"), "active_params": (1e9, " B"), "input_markup": (1.0, "x")}
_Row = tuple[str, str, str, str]
"""A name, the estimate, its range, and its record."""


def readings_table(one: Inference, run: Run) -> Table:
    """Return the readings and estimates of a sheet as a table."""
    columns = ("", "estimate", f"{100 * run.assumptions.level:.0f} % range", "right before")
    return aligned(columns, [dict(zip(columns, row, strict=True)) for row in _rows(one, run)], _GAP, rule=False)


def readings_in_lines(one: Inference, run: Run) -> list[str]:
    """Return the same as sentences, without what the sheet does not tell."""
    found = []
    for name, estimate, ends, record in _rows(one, run):
        if estimate != ABSENT:
            within = f" ({ends})" if ends != NONE else ""
            right = "" if record == NONE else f"; {record}" if record == _NEVER_CHECKED else f"; right before: {record}"
            found.append(f"{name}: {estimate}{within}{right}.")
    return found


def _rows(one: Inference, run: Run) -> list[_Row]:
    lecture = one.pairs[0].lecture.values.get("kv_bytes_per_token") if one.pairs else None
    size = billions(one.anchors.values["active_params"] if one.size_stated else run.assumptions.assumed_active_params)
    fraction, typical = one.estimates["bandwidth_bound_fraction"], one.kv_bytes["headline"]
    rows = [
        ("KV from threshold", short_kv(lecture), f"at {size} active" if lecture else NONE, lecture_record(run) if lecture else NONE),
        _kv_row("KV from premium", one.kv_bytes["increment"]),
        ("bandwidth-bound fraction", *_in_percent(fraction)),
        *_tier_rows(one, run),
        *_size_rows(one),
        ("price/cost", *_ranged("input_markup", one.market["input_markup"])),
        _kv_row("typical KV", typical),
    ]
    if one.known:
        rows.append(("KV of its architecture", short_kv(one.known.read), one.known.grade, NONE))
    return rows


def _kv_row(name: str, found: Estimate) -> _Row:
    if found.kind == "given":
        return name, short_kv(found.median), "given", NONE
    return name, *_ranged("kv_bytes_per_token", found)


def _in_percent(found: Estimate) -> tuple[str, str, str]:
    if found.median is None or found.low is None or found.high is None:
        return ABSENT, NONE, NONE
    return f"{100 * found.median:.0f} %", f"{100 * found.low:.0f} to {100 * found.high:.0f} %", _NEVER_CHECKED


def _ranged(quantity: str, found: Estimate) -> tuple[str, str, str]:
    """`49 kB`, `7.3 to 330 kB`, and `11 of 14`."""
    size, unit = _UNITS[quantity]

    def text(value: float) -> str:
        return two_digits(value / size)

    if found.kind != "interval" or found.median is None or found.low is None or found.high is None:
        return ABSENT, NONE, NONE
    record = "{} of {}".format(*found.kept) if found.kept else _NEVER_CHECKED
    return text(found.median) + unit, f"{text(found.low)} to {text(found.high)}{unit}", record


def _size_rows(one: Inference) -> Iterable[_Row]:
    """What somebody states, and what the price says."""
    if one.size_stated:
        yield "active parameters", billions(one.anchors.values["active_params"]), how_stated(one), NONE
    estimate, ends, record = _ranged("active_params", one.market["active_params"])
    by_price = "extrapolated" if EXTRAPOLATED in one.flags else f"{record} {_population(one)}" if record != _NEVER_CHECKED else record
    yield "active params by price" if one.size_stated else "active parameters", estimate, ends, NONE if estimate == ABSENT else by_price


def _population(one: Inference) -> str:
    """Return which models the record of active parameters is of: open or closed."""
    of = one.market["active_params"].record
    return of.of.partition(" ")[0] if of else ""


def _tier_rows(one: Inference, run: Run) -> Iterable[_Row]:
    """The cache tier by price or another rule, by the duration of a cache entry, and as the vendor states it."""
    priced = {ttl: said for ttl, said in ((of.ttl_seconds, _by_price(of)) for of in one.storage) if said}
    if priced:
        terms = [term for of in one.storage for term in of.evidence]
        worst = worst_record(terms, run.tier_rules)
        rule = next((term.partition(" (")[0] for term in terms if term not in _BY_PRICE), "by price")
        shares = list(dict.fromkeys(share for _, share in priced.values()))
        tiers = _together({ttl: tiers for ttl, (tiers, _) in priced.items()})
        yield f"cache tier, {rule}", tiers, " and ".join(shares), "{} of {}".format(*worst) if worst and worst[1] else _NEVER_CHECKED
    if one.tiers:
        scores = run.tier_rules.value.scores if run.tier_rules.value else ()
        record = next((f"{row.right} of {row.answered}" for row in scores if row.rule == DRAIN_TIMES_OF_LECTURE), _NEVER_CHECKED)
        yield "cache tier, by duration", _together({tier.ttl_seconds: tier.lecture for tier in one.tiers}), NONE, record
    if stated := {of.ttl_seconds: any_of(of.agreed) for of in one.storage if of.disclosed}:
        yield "cache tier, stated", _together(stated), "by the vendor", NONE
    if not one.storage:
        yield "cache tier", ABSENT, NONE, NONE


def _by_price(of: TierEvidence) -> tuple[str, str] | None:
    """`HBM or DDR`, and how likely they are together by price alone."""
    if not of.undisclosed_agreed or of.undisclosed is None:
        return None
    every = len(of.undisclosed_agreed) == len(of.undisclosed)
    return ("any", NONE) if every else (any_of(of.undisclosed_agreed), f"{100 * (of.undisclosed_agreed_share or 0):.0f} % likely")


def _together(said: dict[int | None, str]) -> str:
    """One answer where all lifetimes have the same; else `5 min flash, 1 h disk`."""
    if len(set(said.values())) == 1:
        return next(iter(said.values()))
    return ", ".join(f"{lifetime(ttl)} {text}" for ttl, text in said.items())
