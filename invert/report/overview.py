"""The market of all sheets of a run, on a page: one list of counts, shown as text, documents, JSON and CSV."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from statistics import median

from derive.immutable import immutable
from derive.units import show
from invert.encoder import Codec, names_of
from invert.estimate_text import round_digits
from invert.records import Estimate
from invert.report.columns import name_of
from invert.report.layout import NONE, aligned, many, title
from invert.result import Inference, Run
from invert.sheets.models import asks_no_more, bare_name
from invert.sheets.rows import grouped
from invert.sheets.sheet import Asked, Place

_NOTHING_SOLD = Estimate(kind="undetermined", because="the sheet has no price for it")
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


def _tally(section: str, found: Iterable[tuple[str, str, str]]) -> list[Count]:
    """Count equal rows (name, of, because), the most frequent first and equal numbers by name."""
    counts = sorted(Counter(found).items(), key=lambda pair: (-pair[1], pair[0]))
    return [Count(section=section, name=name, of=of, because=because, offers=offers) for (name, of, because), offers in counts]


def _left_out(run: Run, alike: Iterable[Sequence[Inference]]) -> list[Count]:
    """Count the sheets that are no offers, and the sheets of unknown release."""
    sold = {f"{provider}/{model}" for provider, model, *_ in run.base_inputs}
    undated = [one for one in run if one.released is None and one.kv_bytes["typical"].kind != "given"]
    return [
        *_tally("copies", ((copy.sheet.provider, "", "") for _, *copies in alike for copy in copies)),
        *_tally("no_result", (("", "", one.message) for one in run.problems if one.row is None and one.origin in sold)),
        *_tally("beside", ((key[-1], "", "") for key in run.beside if key not in run.not_picked)),
        *_tally("not_picked", [("", "", "")] * len(run.not_picked)),
        *_tally("of_other_days", [("", "", "")] * (0 if run.request.selects else run.of_other_days)),
        *_tally("release_unknown", [("", "", "")] * len(undated)),
    ]


def _group_copies(run: Run) -> list[list[Inference]]:
    """Group every offer with its copies. The offer is the maker's sheet if there is one, else the first by name."""
    but_lifetimes = {one.key: frozenset((place[:2], price) for place, price in one.sheet.asked.items()) for one in run}
    near = grouped(((bare_name(one.sheet.model), one.sheet.service_tier, but_lifetimes[one.key]), (one.sheet.asked, one)) for one in run)
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
    for name in dict.fromkeys(name for one in offers for name in one.named_estimates if name[0] not in _WITH_ANOTHER):
        label, found = " ".join(name).strip(), [one.named_estimates.get(name, _NOTHING_SOLD) for one in offers]
        kinds = Counter(one.kind for one in found)
        yield from (Count(section="outcome", name=label, of=kind, offers=kinds[kind]) for kind in _KINDS if kinds[kind])
        yield from _tally("reason", ((label, "", one.because) for one in found if one.kind not in ("given", "interval")))


def _carried(offers: Sequence[Inference], run: Run) -> Iterator[Count]:
    """Count every ratio of prices that offers have, cache writes by lifetime and service tiers by name."""
    found = grouped(((name, of), (one.sheet.provider, round_digits(value, 3))) for one in offers for name, of, value in _ratios(one, run))
    for name, of in sorted(found, key=lambda name: ([*_LABELS].index(name[0]), int(name[1]) if name[1].isdecimal() else 0, name[1])):
        providers, values = zip(*found[name, of], strict=True)
        commonest, count = min(Counter(values).items(), key=lambda pair: (-pair[1], pair[0]))
        sellers = len({*providers})
        sold = Count(section="carried", name=name, of=of, offers=len(values), providers=sellers, commonest=commonest, at_commonest=count)
        yield _with_values(sold, values)


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


def _with_values(found: Count, values: Sequence[float]) -> Count:
    """Add the least, the median and the greatest value, to six digits, if there is one."""
    low, middle, high = map(round_digits, (min(values), median(values), max(values))) if values else (None, None, None)
    return replace(found, low=low, median=middle, high=high)


def _premiums(offers: Iterable[Inference]) -> Iterator[Count]:
    """Count the pairs of premiums above a first threshold, the most common first, each with its thresholds."""
    pairs = ((one.sheet.provider, pair) for one in offers for pair in one.observables.pairs[:1])
    asking = grouped(
        (tuple(round_digits(of.value, 3) for of in (pair.premium_in, pair.premium_out)), (seller, pair)) for seller, pair in pairs
    )
    counts = {asked: (len(found), len({seller for seller, _ in found})) for asked, found in asking.items()}
    for asked in sorted(asking, key=lambda asked: (*(-count for count in counts[asked]), asked)):
        name, (count, sellers) = "{:g}/{:g}".format(*asked), counts[asked]
        yield Count(section="premiums", name=name, offers=count, providers=sellers)
        yield from _tally("thresholds", ((name, str(pair.long_context_threshold), "") for _, pair in asking[asked]))


def _sizes(offers: Iterable[Inference]) -> list[Count]:
    """Return the active parameters by provider: stated ones, else the medians by price. Makers of most of their models come first."""
    found = []
    for provider, sold in grouped((one.sheet.provider, one) for one in offers).items():
        of = "maker" if 2 * sum(one.is_maker for one in sold) > len(sold) else "host"
        sizes = [size for one in sold if (size := one.active_params.median) is not None]
        found.append(_with_values(Count(section="sizes", name=provider, of=of, offers=len(sold)), sizes))
    return sorted(found, key=lambda one: (one.of != "maker", -one.offers, one.name))


OVERVIEW_SCHEMA = "infer-overview-2"
CSV_HEAD = tuple(names_of(Count))
OVERVIEW = Codec()
"""The JSON and CSV form of the page."""


_MOST_ROWS = 20
"""Maximum number of rows in a table of the page. JSON and CSV have all."""
ADVICE = "--as json or csv has everything. --wide, --columns or --sort list the sheets. --where NAME=PATTERN selects some."
_BESIDE = {
    "copies": "prices of another sheet of the same model", "no_result": "no result", "beside": "another service tier, in --all",
    "not_picked": "left out by --where", "of_other_days": "prices of other days only",
    "release_unknown": "release not known: typical KV uses the day of the price",
}  # fmt: skip
"""The sections of sheets that are no offers, or lack a release, in words."""
_FEW_KINDS = {"given": 0, "interval": 0, "upper": 1, "lower": 1, "undetermined": 2}
"""The column of each kind of estimate: range, bound or none."""


def overview_parts(found: Overview) -> list[str]:
    """Return the page as a title, a paragraph and tables."""
    beside = [(why, one.name or one.because, f"{one.offers:,}") for section, why in _BESIDE.items() for one in found.section(section)]
    carried = [(_label(one), f"{one.offers:,}", f"{one.providers:,}", _commonest(one), *_range(one)) for one in found.section("carried")]
    premiums = [(one.name, f"{one.offers:,}", f"{one.providers:,}", _thresholds(one, found)) for one in found.section("premiums")]
    sizes = [(one.name, one.of, f"{one.offers:,}", *_range(one)) for one in found.section("sizes")]
    sheets, offers = many(found.sheets, "sheet"), many(found.offers, "offer")
    multiples = "Multiples of the input price. Long context: multiples of the price below the first threshold. Storage: as published."
    by_price = "Known sizes, otherwise medians of the estimates from prices, each with a factor of three or more."
    return [
        f"{sheets} of {many(found.providers, 'provider')}, prices of {found.as_of}: {offers}, which are counted below",
        *_table("Sheets that are no offers, and unknown releases", ("why", "of", "sheets"), beside),
        *_table("Results", ("estimate", "range", "bound", "none", "why most have no range"), [*_outcome_rows(found)]),
        *_table("Prices on offer", ("price", "offers", "sellers", "most common", "median", "least to most"), carried, multiples),
        *_table("Premiums above the first threshold, input/output", ("times", "offers", "sellers", "at thresholds"), premiums),
        *_table("Active parameters by provider", ("provider", "", "offers", "median", "least to most"), sizes, by_price),
    ]


def _table(heading: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *notes: str) -> list[str]:
    """Return the first rows under a heading, with their notes, if there is one."""
    more = [f"{many(len(rows) - _MOST_ROWS, 'more row')} with --as csv."] if rows[_MOST_ROWS:] else []
    return [*title(heading), aligned(columns, rows[:_MOST_ROWS]), *notes, *more] if rows else []


def _outcome_rows(found: Overview) -> Iterator[Sequence[str]]:
    """Yield a row for each estimate: how many offers have a range, a bound or nothing, and the most common reason for no range."""
    reasons = {one.name: one.because for one in reversed(found.section("reason"))}
    for name, outcomes in grouped((one.name, one) for one in found.section("outcome")).items():
        counts = [0, 0, 0]
        for one in outcomes:
            counts[_FEW_KINDS[one.of]] += one.offers
        quantity, _, estimator = name.partition(" ")
        yield name_of(quantity, estimator), *(f"{count:,}" for count in counts), reasons.get(name, NONE).partition(". ")[0]


def _label(one: Count) -> str:
    """Return `cache write, 5 min`."""
    of = show("ttl", float(one.of)) if one.of.isdecimal() else one.of.replace("_", "-")
    label = _LABELS[one.name]
    return ", ".join(filter(None, (label, of))) if label else f"{of} tier"


def _value(one: Count, value: float | None) -> str:
    """Format a size, or a price as a multiple of its reference."""
    if value is None:
        return NONE
    if one.section == "sizes":
        return show("active_params", value, digits=2)
    if one.name == "storage_price":
        return show("storage_price", value, digits=3).removeprefix("$").removesuffix("/MTok/h")
    return f"{value + (one.name == 'cache_write_premium'):.3g}"


def _commonest(one: Count) -> str:
    return f"{_value(one, one.commonest)} ({one.at_commonest:,})"


def _range(one: Count) -> tuple[str, str]:
    """Return the median, and the least and the greatest value if they differ."""
    low, high = _value(one, one.low), _value(one, one.high)
    return _value(one, one.median), f"{low} to {high}" if low != high else NONE


def _thresholds(one: Count, found: Overview) -> str:
    """Return `272k 10, 200k 2`: the thresholds of a pair of premiums, and how many offers have each."""
    named = ((show("long_context_threshold", float(of.of), digits=3), of) for of in found.section("thresholds") if of.name == one.name)
    return ", ".join(f"{at.removesuffix(' tokens')} {of.offers}" for at, of in named)
