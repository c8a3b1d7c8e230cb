"""The market that the sheets of a run make, on a page: text and documents, JSON, CSV."""

import json
from collections.abc import Iterable, Mapping
from datetime import date
from typing import TypedDict

from derive.show.cells import csv_text
from derive.units import show
from invert.encoder import Codec, Leaf, names_of
from invert.records import Carried, Outcome, Overview, ProviderSizes, SharedPremiums, Span
from invert.report.columns import name_of
from invert.report.layout import NONE, aligned, laid_out, title

OVERVIEW_SCHEMA = "infer-overview-1"
_MOST_ROWS, _MOST_NAMED = 12, 3
"""Rows of a table, and names in a sentence, that a page has; JSON and CSV have all."""
CSV_HEAD = ("section", "name", "of", "offers", "providers", "low", "median", "high", "commonest", "at_commonest", "because")


def overview_text(found: Overview, width: int) -> str:
    """Format the page in this width, with a pointer to more."""
    return laid_out([*overview_parts(found), "", _MORE], width)


def overview_parts(found: Overview) -> list[str]:
    """Return the page as a title, paragraphs and tables."""
    parts = [f"{found.sheets:,} sheets of {_many(found.providers, 'provider')}, prices of {found.as_of}", "", *_counted(found)]
    parts += [*title("Results"), aligned(_OUTCOME_HEAD, [_outcome_row(one) for one in found.outcomes])]
    parts += [*title("What offers carry"), aligned(_CARRIED_HEAD, [_carried_row(one) for one in found.carried]), _OVER_INPUT]
    if found.premiums:
        shown = found.premiums[:_MOST_ROWS]
        parts += [*title("Premiums above the first threshold"), aligned(_PREMIUM_HEAD, [_premium_row(one) for one in shown])]
        parts += _missing_text("more pair", [one.offers for one in found.premiums[_MOST_ROWS:]])
    listed = [one for one in found.sizes if one.makes][:_MOST_ROWS] or found.sizes[:_MOST_ROWS]
    parts += [*title("Active parameters by provider"), aligned(_SIZE_HEAD, [_size_row(one) for one in listed]), _OF_MEDIANS]
    parts += _missing_text("more provider", [one.offers for one in found.sizes if one not in listed])
    return parts


_MORE = "--as json or csv has everything. --wide, --columns or --sort list the sheets. --where NAME=PATTERN selects some."
_OUTCOME_HEAD = ("estimate", "range", "bound", "none", "why most have no range")
_CARRIED_HEAD = ("price", "offers", "sellers", "most ask", "median", "least to most")
_PREMIUM_HEAD = ("input", "output", "offers", "sellers", "at thresholds")
_SIZE_HEAD = ("provider", "offers", "median", "least to most")
_OVER_INPUT = "Multiples of the input price. Long context: multiples of the price below the first threshold. Storage: as published."
_OF_MEDIANS = "Known sizes, otherwise medians of the estimates from prices, each with a factor of three or more."


def _counted(found: Overview) -> list[str]:
    copies, unread = sum(found.copies.values()), sum(found.no_result.values())
    named = [f"{tier.replace('_', '-')} {count:,}" for tier, count in found.beside.items()]
    named += [f"on other days only {found.of_other_days:,}"] if found.of_other_days else []
    others = sum(found.beside.values()) + found.of_other_days
    left, takes = ("not shown", "shows") if found.not_picked else ("left out", "includes")
    more = [f"{_many(found.not_picked, 'more sheet')} left out by --where."] if found.not_picked else []
    advice = f". --all {takes} the sheets of the day" if found.beside else ""
    more += [f"{_many(others, 'more sheet')} {left}: {', '.join(named)}{advice}."] if others else []
    same = f"{copies:,} have the prices of another sheet of the same model ({_named(found.copies)}). "
    none = f"{_many(unread, 'sheet')} without a result: {_named(found.no_result)}." if unread else "Every sheet has a result."
    counted = " ".join([f"{same if copies else ''}{_many(found.offers, 'offer')} are counted below.", none, *more])
    undated = f"KV of {_many(found.release_unknown, 'sheet')} is that usual on the day of the price: no table has the release of the model."
    return [counted, *([undated] if found.release_unknown else [])]


def _named(counts: Mapping[str, int]) -> str:
    """Return `openrouter 300, aws 120 and 80 of 12 others`."""
    first, others = list(counts.items())[:_MOST_NAMED], list(counts.values())[_MOST_NAMED:]
    said = ", ".join(f"{name} {count:,}" for name, count in first)
    return said + (f" and {sum(others):,} of {len(others)} other{'s' if len(others) > 1 else ''}" if others else "")


def _missing_text(what: str, offers: list[int]) -> list[str]:
    return [f"{_many(len(offers), what)} of {_many(sum(offers), 'offer')}."] if offers else []


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _outcome_row(one: Outcome) -> dict[str, str]:
    kinds = {"range": ("given", "interval"), "bound": ("upper", "lower"), "none": ("undetermined",)}
    counts = {column: f"{sum(one.kinds.get(kind, 0) for kind in of):,}" for column, of in kinds.items()}
    first, _, second = next(iter(one.because), NONE).partition(". ")
    # What a bound is counted in is no reason.
    why = second if second and first.startswith("in ") else first
    return dict(zip(_OUTCOME_HEAD, (name_of(one.quantity, one.estimator), *counts.values(), why.partition(". ")[0]), strict=True))


def _carried_row(one: Carried) -> dict[str, str]:
    ends = f"{_asked(one, one.span.low)} to {_asked(one, one.span.high)}" if one.span.low < one.span.high else NONE
    cells = (_label(one), f"{one.offers:,}", f"{one.providers:,}", f"{_asked(one, one.commonest)} ({one.at_commonest:,})",
             _asked(one, one.span.median), ends)  # fmt: skip
    return dict(zip(_CARRIED_HEAD, cells, strict=True))


def _label(one: Carried) -> str:
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
    return labels[one.observable]


def _asked(one: Carried, value: float) -> str:
    """Format a price as a multiple of its reference."""
    if one.observable == "storage_price":
        return show("storage_price", value, digits=3).removeprefix("$").removesuffix("/MTok/h")
    return f"{value + (one.observable == 'cache_write_premium'):.3g}"


def _premium_row(one: SharedPremiums) -> dict[str, str]:
    at = ", ".join(f"{_tokens(threshold)} {count}" for threshold, count in one.thresholds.items())
    cells = f"x{one.premium_in:g}", f"x{one.premium_out:g}", f"{one.offers:,}", f"{one.providers:,}", at
    return dict(zip(_PREMIUM_HEAD, cells, strict=True))


def _tokens(threshold: int) -> str:
    return show("long_context_threshold", threshold, digits=3).removesuffix(" tokens")


def _size_row(one: ProviderSizes) -> dict[str, str]:
    def size(value: float) -> str:
        return show("active_params", value, digits=2)

    middle, ends = (size(one.span.median), f"{size(one.span.low)} to {size(one.span.high)}") if one.span else (NONE, NONE)
    return dict(zip(_SIZE_HEAD, (one.provider, f"{one.offers:,}", middle, ends), strict=True))


# For programs.


class Count(TypedDict):
    """How many there are of a name."""

    name: str
    count: int


class AtThreshold(TypedDict):
    """How many offers have their first threshold there."""

    threshold_tokens: int
    offers: int


def _counts(counts: Mapping[str, int]) -> list[Count]:
    return [{"name": name, "count": count} for name, count in counts.items()]


def _no_result(found: Overview) -> list[Count]:
    return _counts(found.no_result)


def _count_other_sheets(found: Overview) -> list[Count]:
    return _counts(found.beside)


def _copies(found: Overview) -> list[Count]:
    return _counts(found.copies)


def _because(one: Outcome) -> list[Count]:
    return _counts(one.because)


def _thresholds(one: SharedPremiums) -> list[AtThreshold]:
    return [{"threshold_tokens": at, "offers": count} for at, count in one.thresholds.items()]


OVERVIEW = Codec(
    keys={
        Overview: {**names_of(Overview), "no_result": _no_result, "beside": _count_other_sheets, "copies": _copies},
        Outcome: {**names_of(Outcome), "because": _because},
        SharedPremiums: {**names_of(SharedPremiums), "thresholds": _thresholds},
    },
    leaves={date: Leaf(str, date.isoformat, date.fromisoformat)},
    rounded=frozenset([Span]),
)
"""How the page is written for programs."""


def overview_json(found: Overview) -> str:
    """Return strict JSON in SI units."""
    return json.dumps({"schema": OVERVIEW_SCHEMA, **OVERVIEW.encode(found)}, indent=2, allow_nan=False)


def overview_csv(found: Overview) -> str:
    """Return CSV with a line per count, in SI units."""
    rows: list[dict[str, object]] = [{"section": "copies", "name": name, "offers": count} for name, count in found.copies.items()]
    rows += [{"section": "no_result", "offers": count, "because": why} for why, count in found.no_result.items()]
    rows += [{"section": "not_picked", "offers": found.not_picked}] if found.not_picked else []
    rows += [{"section": "beside", "name": tier, "offers": count} for tier, count in found.beside.items()]
    rows += [{"section": "of_other_days", "offers": found.of_other_days}] if found.of_other_days else []
    rows += [{"section": "release_unknown", "offers": found.release_unknown}] if found.release_unknown else []
    rows += [
        {"section": "outcome", "name": one.quantity, "of": f"{one.estimator} {kind}".strip(), "offers": count}
        for one in found.outcomes for kind, count in one.kinds.items()
    ]  # fmt: skip
    rows += [
        {"section": "carried", "name": one.observable, "of": one.of, "offers": one.offers, "providers": one.providers,
         **OVERVIEW.encode(one.span), "commonest": one.commonest, "at_commonest": one.at_commonest}
        for one in found.carried
    ]  # fmt: skip
    rows += [
        {"section": "premiums", "name": f"{one.premium_in:g}/{one.premium_out:g}", "of": at, "offers": count}
        for one in found.premiums for at, count in one.thresholds.items()
    ]  # fmt: skip
    rows += [
        {"section": "sizes", "name": one.provider, "offers": one.offers, **(OVERVIEW.encode(one.span) if one.span else {})}
        for one in found.sizes
    ]  # fmt: skip
    return csv_text(CSV_HEAD, _whole(rows))


def _whole(rows: Iterable[Mapping[str, object]]) -> Iterable[Mapping[str, object]]:
    return ({column: row.get(column) for column in CSV_HEAD} for row in rows)
