"""Summarise a run as a market: one list of counts, which text, JSON and CSV show."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from statistics import median
from typing import TYPE_CHECKING

from derive.immutable import immutable
from invert.estimate_text import six_digits
from invert.result import Inference, Run
from invert.sheets.names import asks_no_more, bare_name
from invert.sheets.places import Place
from invert.sheets.sheet import Asked

if TYPE_CHECKING:
    from invert.records import Estimate, Name

_DIGITS = 3
"""Digits in which two equal ratios agree: prices are published with this number of digits."""
_NOTHING_SOLD = "the sheet has no price for it"
_WITH_ANOTHER = ("kv_bytes_stored_per_token", "total_params", "input_price_cost_ratio")
"""Estimates that have a range whenever a certain other quantity has one."""
_KINDS = ("given", "interval", "upper", "lower", "undetermined")
_OBSERVABLES = (
    "output_input_ratio", "premium_in", "premium_out", "cache_read_ratio", "cache_write_premium", "storage_price",
    "input_price_of_service_tier",
)  # fmt: skip


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
    near: dict[tuple[object, ...], list[tuple[Mapping[Place, Asked], Inference]]] = {}
    for one in run:
        asked = one.sheet.asked
        but_lifetimes = frozenset((place[:2], price) for place, price in asked.items())
        near.setdefault((bare_name(one.sheet.model), one.sheet.service_tier, but_lifetimes), []).append((asked, one))
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
    found: dict[Name, list[Estimate]] = {}
    for name, estimate in (pair for one in offers for pair in one.named_estimates.items()):
        if name[0] not in _WITH_ANOTHER:
            found.setdefault(name, []).append(estimate)
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
    found: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for one in offers:
        for observable, of, value in _ratios(one, run):
            found.setdefault((observable, of), []).append((one.sheet.provider, _rounded(value)))
    for name, of in sorted(found, key=lambda name: (_OBSERVABLES.index(name[0]), int(name[1]) if name[1].isdecimal() else 0, name[1])):
        values = [value for _, value in found[name, of]]
        commonest, count = min(Counter(values).items(), key=lambda pair: (-pair[1], pair[0]))
        sellers = {provider for provider, _ in found[name, of]}
        sold_at = Count(
            section="carried", name=name, of=of, offers=len(values), providers=len(sellers), commonest=commonest, at_commonest=count
        )
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
    return float(f"{value:.{_DIGITS}g}")


def _with_values(found: Count, values: Sequence[float]) -> Count:
    """Add the least, the median and the greatest value, to six digits."""
    low, middle, high = map(six_digits, (min(values), median(values), max(values)))
    return replace(found, low=low, median=middle, high=high)


def _premiums(offers: Iterable[Inference]) -> Iterator[Count]:
    """Count the pairs of premiums above a first threshold, the most common first, each with its thresholds."""
    asking: dict[tuple[float, float], list[tuple[str, int]]] = {}
    for one in offers:
        for pair in one.observables.pairs[:1]:
            asked = _rounded(pair.premium_in.value), _rounded(pair.premium_out.value)
            asking.setdefault(asked, []).append((one.sheet.provider, pair.long_context_threshold))
    for asked in sorted(asking, key=lambda asked: (-len(asking[asked]), -len({provider for provider, _ in asking[asked]}), asked)):
        name, sellers = "{:g}/{:g}".format(*asked), {provider for provider, _ in asking[asked]}
        yield Count(section="premiums", name=name, offers=len(asking[asked]), providers=len(sellers))
        thresholds = Counter(threshold for _, threshold in asking[asked])
        yield from (Count(section="thresholds", name=name, of=str(at), offers=count) for at, count in thresholds.most_common())


def _sizes(offers: Iterable[Inference]) -> list[Count]:
    """Return the active parameters by provider: stated ones, else the medians by price. Makers of most of their models come first."""
    of_provider: dict[str, list[Inference]] = {}
    for one in offers:
        of_provider.setdefault(one.sheet.provider, []).append(one)
    found = []
    for provider, sold in of_provider.items():
        of = "maker" if 2 * sum(one.is_maker for one in sold) > len(sold) else "host"
        sizes = [size for one in sold if (size := one.active_params.median) is not None]
        count = Count(section="sizes", name=provider, of=of, offers=len(sold))
        found.append(_with_values(count, sizes) if sizes else count)
    return sorted(found, key=lambda one: (one.of != "maker", -one.offers, one.name))
