"""The market of all sheets of a run, on a page: one list of counts, shown as text, documents, JSON and CSV."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from statistics import median

from derive.immutable import immutable
from derive.show.layout import csv_text
from derive.units import show
from invert.encoder import Codec, names_of
from invert.estimate_text import six_digits
from invert.report.columns import name_of
from invert.report.layout import NONE, aligned, many, title
from invert.result import Inference, Run
from invert.sheets.models import asks_no_more, bare_name
from invert.sheets.rows import grouped
from invert.sheets.sheet import Asked, Place

_NOTHING_SOLD = "the sheet has no price for it"
_WITH_ANOTHER = ("kv_bytes_stored_per_token", "total_params", "input_price_cost_ratio")
"""Estimates that have a range whenever a certain other quantity has one."""
_KINDS = ("given", "interval", "upper", "lower", "undetermined")
_LABELS = {
    "output_input_ratio": "output", "premium_in": "long context, input", "premium_out": "long context, output",
    "cache_read_ratio": "cache read", "cache_write_premium": "cache write", "storage_price": "storage, $/MTok/h",
    "input_price_of_service_tier": "",
}  # fmt: skip
"""The ratios of prices, in their order, with their labels. A service tier is its own label."""


@immutable
class Count:
    """The offers of one `section`, `name` and `of`: their number, the number of providers, and their values.

    `of` is a lifetime [s], a service tier, a threshold [token], or the kind of an estimate. The values are ratios of prices, or active
    parameters. `at_commonest` offers have the value `commonest`.
    """

    section: str
    name: str = ""
    of: str = ""
    offers: int
    providers: int | None = None
    low: float | None = None
    median: float | None = None
    high: float | None = None
    commonest: float | None = None
    at_commonest: int | None = None
    because: str = ""


@immutable
class Overview:
    """Summary of all sheets of one run.

    A sheet is a copy if another provider, or a second name of the same provider, has exactly the same prices for the same model in the same
    service tier. Offers are sheets that are not copies. Sections of `counts`:

    - copies by provider, sheets without a result by reason, other valid sheets by service tier (`beside`), sheets that were read but not
      selected (`not_picked`), sheets of other days only, and sheets whose baseline uses the day of their price (`release_unknown`)
    - `outcome`: the kinds of each estimate, and `reason`: why it has no range
    - `carried`: each ratio of prices
    - `premiums` over the first threshold, the most common first, and their `thresholds`
    - `sizes`: the active parameters by provider, of makers and of hosts
    """

    as_of: date
    sheets: int
    providers: int
    offers: int
    counts: tuple[Count, ...]

    def section(self, name: str) -> list[Count]:
        """Return the counts of one section."""
        return [one for one in self.counts if one.section == name]


def overview(run: Run) -> Overview:
    """Summarise the market that the sheets of a run form."""
    alike = _group_copies(run)
    offers = [first for first, *_ in alike]
    return Overview(
        as_of=run.as_of,
        sheets=len(run),
        providers=len({one.sheet.provider for one in run}),
        offers=len(offers),
        counts=(*_left_out(run, alike), *_outcomes(offers), *_carried(offers, run), *_premiums(offers), *_sizes(offers)),
    )


def _left_out(run: Run, alike: Iterable[Sequence[Inference]]) -> Iterator[Count]:
    """Count the sheets that are no offers, and the sheets of unknown release."""
    copies = Counter(copy.sheet.provider for _, *copies in alike for copy in copies)
    yield from (Count(section="copies", name=name, offers=count) for name, count in _most_first(copies))
    sold = {f"{provider}/{model}" for provider, model, *_ in run.base_inputs}
    unread = Counter(one.message for one in run.problems if one.row is None and one.origin in sold)
    yield from (Count(section="no_result", because=why, offers=count) for why, count in _most_first(unread))
    beside = Counter(key[-1] for key in run.beside if key not in run.not_picked)
    yield from (Count(section="beside", name=tier, offers=count) for tier, count in _most_first(beside))
    single = {
        "not_picked": len(run.not_picked),
        "of_other_days": 0 if run.request.selects else run.of_other_days,
        "release_unknown": sum(not one.release_known and one.kv_bytes["typical"].kind != "given" for one in run),
    }
    yield from (Count(section=section, offers=count) for section, count in single.items() if count)


def _most_first(counts: Counter[str]) -> list[tuple[str, int]]:
    """Sort counts, the largest first and equal ones by name."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _group_copies(run: Run) -> list[list[Inference]]:
    """Group every offer with its copies. The offer is the maker's sheet if there is one, else the first by name."""

    def but_lifetimes(one: Inference) -> frozenset[object]:
        return frozenset((place[:2], price) for place, price in one.sheet.asked.items())

    near = grouped(((bare_name(one.sheet.model), one.sheet.service_tier, but_lifetimes(one)), (one.sheet.asked, one)) for one in run)
    groups = (of_one for found in near.values() for of_one in _group_by_lifetimes(found))
    return [sorted(of_one, key=lambda one: (not one.is_maker, len(one.sheet.model), one.key)) for of_one in groups]


def _group_by_lifetimes(found: Sequence[tuple[Mapping[Place, Asked], Inference]]) -> Iterator[list[Inference]]:
    """Group sheets of equal prices by the lifetimes of their caches. A blank lifetime joins a sheet that names it."""
    groups: list[list[tuple[Mapping[Place, Asked], Inference]]] = []
    for asked, one in sorted(found, key=lambda pair: sum(part == "cache_write" and ttl is None for part, _, ttl in pair[0])):
        group = next((group for group in groups if asks_no_more(asked, group[0][0])), None)
        if group is None:
            groups.append(group := [])
        group.append((asked, one))
    yield from ([one for _, one in group] for group in groups)


def _outcomes(offers: Sequence[Inference]) -> Iterator[Count]:
    """Count the kinds of every estimate, and the reasons for a missing range."""
    found = grouped(pair for one in offers for pair in one.named_estimates.items() if pair[0][0] not in _WITH_ANOTHER)
    for of, estimates in found.items():
        kinds = Counter(one.kind for one in estimates)
        because = Counter(one.because for one in estimates if one.kind not in ("given", "interval"))
        if lacking := len(offers) - len(estimates):
            kinds["undetermined"] += lacking
            because[_NOTHING_SOLD] += lacking
        label = " ".join(of).strip()
        yield from (Count(section="outcome", name=label, of=kind, offers=kinds[kind]) for kind in _KINDS if kinds[kind])
        yield from (Count(section="reason", name=label, offers=count, because=why) for why, count in _most_first(because))


def _carried(offers: Sequence[Inference], run: Run) -> Iterator[Count]:
    """Count every ratio of prices that offers have, cache writes by lifetime and service tiers by name."""
    found = grouped(((name, of), (one.sheet.provider, _rounded(value))) for one in offers for name, of, value in _ratios(one, run))
    for name, of in sorted(found, key=lambda name: ([*_LABELS].index(name[0]), int(name[1]) if name[1].isdecimal() else 0, name[1])):
        providers, values = zip(*found[name, of], strict=True)
        commonest, count = min(Counter(values).items(), key=lambda pair: (-pair[1], pair[0]))
        sellers = len({*providers})
        sold_at = Count(section="carried", name=name, of=of, offers=len(values), providers=sellers, commonest=commonest, at_commonest=count)
        yield _with_values(sold_at, values)


def _ratios(one: Inference, run: Run) -> Iterator[tuple[str, str, float]]:
    """Yield the ratios of prices of a sheet: name, lifetime or tier, and value."""
    seen, sheet = one.observables, one.sheet
    first = seen.pairs[0] if seen.pairs else None
    ratios = (seen.output_input_ratio, first and first.premium_in, first and first.premium_out, seen.cache_read_ratio, seen.storage_price)
    yield from ((found.name, "", found.value) for found in ratios if found)
    yield from (("cache_write_premium", str(write.ttl_seconds or ""), write.premium) for write in seen.cache_write_premiums)
    for (provider, model, region, tier), asked in run.base_inputs.items():
        if (provider, model, region) == (sheet.provider, sheet.model, sheet.region) and tier != sheet.service_tier:
            yield "input_price_of_service_tier", tier, asked / sheet.bands[0].input.usd_per_token


def _rounded(value: float) -> float:
    """Return a ratio with three digits, because prices are published with three."""
    return float(f"{value:.3g}")


def _with_values(found: Count, values: Sequence[float]) -> Count:
    """Add the least, the median and the greatest value, to six digits."""
    low, middle, high = map(six_digits, (min(values), median(values), max(values)))
    return replace(found, low=low, median=middle, high=high)


def _premiums(offers: Iterable[Inference]) -> Iterator[Count]:
    """Count the pairs of premiums above a first threshold, the most common first, each with its thresholds."""
    asking = grouped(
        ((_rounded(pair.premium_in.value), _rounded(pair.premium_out.value)), (one.sheet.provider, pair.long_context_threshold))
        for one in offers
        for pair in one.observables.pairs[:1]
    )
    for asked in sorted(asking, key=lambda asked: (-len(asking[asked]), -len({provider for provider, _ in asking[asked]}), asked)):
        name, sellers = "{:g}/{:g}".format(*asked), {provider for provider, _ in asking[asked]}
        yield Count(section="premiums", name=name, offers=len(asking[asked]), providers=len(sellers))
        thresholds = Counter(threshold for _, threshold in asking[asked])
        yield from (Count(section="thresholds", name=name, of=str(at), offers=count) for at, count in thresholds.most_common())


def _sizes(offers: Iterable[Inference]) -> list[Count]:
    """Return the active parameters by provider: stated ones, else the medians by price. Makers of most of their models come first."""
    found = []
    for provider, sold in grouped((one.sheet.provider, one) for one in offers).items():
        of = "maker" if 2 * sum(one.is_maker for one in sold) > len(sold) else "host"
        sizes = [size for one in sold if (size := one.active_params.median) is not None]
        count = Count(section="sizes", name=provider, of=of, offers=len(sold))
        found.append(_with_values(count, sizes) if sizes else count)
    return sorted(found, key=lambda one: (one.of != "maker", -one.offers, one.name))


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
    parts = [f"{many(found.sheets, 'sheet')} of {many(found.providers, 'provider')}, prices of {found.as_of}", "", *_counted(found)]
    for heading, (columns, rows, note) in tables.items():
        if rows:
            parts += [*title(heading), aligned(columns, rows), *note.splitlines()]
    return [*parts, "", _MORE]


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
    counted = " ".join([f"{same}{many(found.offers, 'offer')} {'is' if found.offers == 1 else 'are'} counted below.", none, *more])
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
        why, _, _ = next((one.because for one in reasons if one.name == name), NONE).partition(". ")
        quantity, _, estimator = name.partition(" ")
        yield name_of(quantity, estimator), *(f"{count:,}" for count in counts), why


def _carried_row(one: Count) -> Sequence[str]:
    least, middle, most, commonest = (_asked(one, value or 0.0) for value in (one.low, one.median, one.high, one.commonest))
    ends = f"{least} to {most}" if (one.low or 0.0) < (one.high or 0.0) else NONE
    return _label(one), f"{one.offers:,}", f"{one.providers:,}", f"{commonest} ({one.at_commonest:,})", middle, ends


def _label(one: Count) -> str:
    """Return `cache write, 5 min`."""
    of = show("ttl", float(one.of)) if one.of.isdecimal() else one.of.replace("_", "-")
    label = _LABELS[one.name]
    return ", ".join(filter(None, (label, of))) if label else f"{of} tier"


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
