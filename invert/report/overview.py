"""The market of all sheets of a run, on a page: text, documents, JSON and CSV."""

import json
from collections.abc import Iterator, Sequence

from derive.show.cells import csv_text
from derive.units import show
from invert.encoder import Codec, names_of
from invert.overview import Count, Overview
from invert.report.columns import name_of
from invert.report.layout import NONE, aligned, laid_out, many, title

OVERVIEW_SCHEMA = "infer-overview-2"
_MOST_ROWS, _MOST_NAMED = 12, 3
"""Maximum number of rows in a table, and of names in a sentence. JSON and CSV have all."""
CSV_HEAD = tuple(names_of(Count))
OVERVIEW = Codec()
"""The JSON and CSV form of the page."""


def overview_json(found: Overview) -> str:
    """Return strict JSON in SI units."""
    return json.dumps({"schema": OVERVIEW_SCHEMA, **OVERVIEW.encode(found)}, indent=2, allow_nan=False)


def overview_csv(found: Overview) -> str:
    """Return CSV with a line per count, in SI units."""
    return csv_text(CSV_HEAD, map(OVERVIEW.encode, found.counts))


def overview_text(found: Overview, width: int) -> str:
    """Format the page in this width, with a pointer to more."""
    return laid_out([*overview_parts(found), "", _MORE], width)


def overview_parts(found: Overview) -> list[str]:
    """Return the page as a title, paragraphs and tables."""
    premiums, sizes = found.section("premiums"), found.section("sizes")
    listed = [one for one in sizes if one.of == "maker"][:_MOST_ROWS] or sizes[:_MOST_ROWS]
    tables = {
        "Results": (("estimate", "range", "bound", "none", "why most have no range"), _outcome_rows(found), ""),
        "Prices on offer": (
            ("price", "offers", "sellers", "most common", "median", "least to most"),
            [_carried_row(one) for one in found.section("carried")],
            "Multiples of the input price. Long context: multiples of the price below the first threshold. Storage: as published.",
        ),
        "Premiums above the first threshold": (
            ("input", "output", "offers", "sellers", "at thresholds"),
            [_premium_row(one, found) for one in premiums[:_MOST_ROWS]],
            _missing_text("more pair", premiums[_MOST_ROWS:]),
        ),
        "Active parameters by provider": (
            ("provider", "offers", "median", "least to most"),
            [_size_row(one) for one in listed],
            "Known sizes, otherwise medians of the estimates from prices, each with a factor of three or more.\n"
            + _missing_text("more provider", [one for one in sizes if one not in listed]),
        ),
    }
    parts = [f"{found.sheets:,} sheets of {many(found.providers, 'provider')}, prices of {found.as_of}", "", *_counted(found)]
    for heading, (columns, rows, note) in tables.items():
        if rows:
            parts += [*title(heading), aligned(columns, rows), *note.splitlines()]
    return parts


_MORE = "--as json or csv has everything. --wide, --columns or --sort list the sheets. --where NAME=PATTERN selects some."


def _counted(found: Overview) -> list[str]:
    copies, unread, beside = (found.section(name) for name in ("copies", "no_result", "beside"))
    not_picked, other_days, undated = (_offers(found.section(name)) for name in ("not_picked", "of_other_days", "release_unknown"))
    named = [f"{one.name.replace('_', '-')} {one.offers:,}" for one in beside]
    named += [f"on other days only {other_days:,}"] if other_days else []
    left, takes = ("not shown", "shows") if not_picked else ("left out", "includes")
    more = [f"{many(not_picked, 'more sheet')} left out by --where."] if not_picked else []
    advice = f". --all {takes} the sheets of the day" if beside else ""
    others = _offers(beside) + other_days
    more += [f"{many(others, 'more sheet')} {left}: {', '.join(named)}{advice}."] if others else []
    same = f"{_offers(copies):,} have the prices of another sheet of the same model ({_named(copies)}). " if copies else ""
    none = f"{many(_offers(unread), 'sheet')} without a result: {_named(unread)}." if unread else "Every sheet has a result."
    counted = " ".join([f"{same}{many(found.offers, 'offer')} are counted below.", none, *more])
    day = f"For {many(undated, 'sheet')} typical KV uses the day of the price, because no table has the release date of the model."
    return [counted, *([day] if undated else [])]


def _offers(counts: Sequence[Count]) -> int:
    return sum(one.offers for one in counts)


def _named(counts: Sequence[Count]) -> str:
    """Return `openrouter 300, aws 120 and 80 of 12 others`."""
    first, others = counts[:_MOST_NAMED], counts[_MOST_NAMED:]
    said = ", ".join(f"{one.name or one.because} {one.offers:,}" for one in first)
    return said + (f" and {_offers(others):,} of {len(others)} other{'s' if len(others) > 1 else ''}" if others else "")


def _missing_text(what: str, left: Sequence[Count]) -> str:
    return f"{many(len(left), what)} of {many(_offers(left), 'offer')}." if left else ""


def _outcome_rows(found: Overview) -> Iterator[Sequence[str]]:
    """Yield a row for each estimate: how many offers have a range, a bound or nothing, and the most common reason for no range."""
    outcomes, reasons = found.section("outcome"), found.section("reason")
    for name in dict.fromkeys(one.name for one in outcomes):
        kinds = {one.of: one.offers for one in outcomes if one.name == name}
        counts = (sum(kinds.get(kind, 0) for kind in of) for of in (("given", "interval"), ("upper", "lower"), ("undetermined",)))
        first, _, second = next((one.because for one in reasons if one.name == name), NONE).partition(". ")
        # The unit of a bound is not a reason.
        why = second if second and first.startswith("in ") else first
        quantity, _, estimator = name.partition(" ")
        yield name_of(quantity, estimator), *(f"{count:,}" for count in counts), why.partition(". ")[0]


def _carried_row(one: Count) -> Sequence[str]:
    least, middle, most, commonest = (_asked(one, value or 0.0) for value in (one.low, one.median, one.high, one.commonest))
    ends = f"{least} to {most}" if (one.low or 0.0) < (one.high or 0.0) else NONE
    return _label(one), f"{one.offers:,}", f"{one.providers:,}", f"{commonest} ({one.at_commonest:,})", middle, ends


def _label(one: Count) -> str:
    """Return `cache write, 5 min`."""
    of = show("ttl", float(one.of)) if one.of.isdecimal() else one.of.replace("_", "-")
    labels = {
        "output_input_ratio": "output",
        "premium_in": "long context, input",
        "premium_out": "long context, output",
        "cache_read_ratio": "cache read",
        "cache_write_premium": f"cache write{of and f', {of}'}",
        "storage_price": "storage, $/MTok/h",
        "input_price_of_service_tier": f"{of} tier",
    }
    return labels[one.name]


def _asked(one: Count, value: float) -> str:
    """Format a price as a multiple of its reference."""
    if one.name == "storage_price":
        return show("storage_price", value, digits=3).removeprefix("$").removesuffix("/MTok/h")
    return f"{value + (one.name == 'cache_write_premium'):.3g}"


def _premium_row(one: Count, found: Overview) -> Sequence[str]:
    at = ", ".join(
        f"{show('long_context_threshold', float(of.of), digits=3).removesuffix(' tokens')} {of.offers}"
        for of in found.section("thresholds") if of.name == one.name
    )  # fmt: skip
    return *(f"x{premium}" for premium in one.name.split("/")), f"{one.offers:,}", f"{one.providers:,}", at


def _size_row(one: Count) -> Sequence[str]:
    low, middle, high = (NONE if size is None else show("active_params", size, digits=2) for size in (one.low, one.median, one.high))
    return one.name, f"{one.offers:,}", middle, NONE if low == NONE else f"{low} to {high}"
