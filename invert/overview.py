"""Summarise a run as a market: offered prices, estimates by kind, and common premiums and sizes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import TypeAlias

from invert.records import BandPair, Carried, Estimate, Outcome, Overview, ProviderSizes, SharedPremiums, Span
from invert.result import Inference, Run
from invert.sheets.assemble import Place, prices_by_place
from invert.sheets.names import asks_no_more, bare_name

_Asked: TypeAlias = Mapping[Place, tuple[float, str, str]]
"""Amount, currency and unit by what they are asked for."""
_DIGITS = 3
"""Digits to which two ratios are one: prices are published in as many."""
_OBSERVABLES = (
    "output_input_ratio", "premium_in", "premium_out", "cache_read_ratio", "cache_write_premium", "storage_price",
    "input_price_of_service_tier",
)  # fmt: skip
_NOTHING_SOLD = "the sheet has no price for it"
_KINDS = ("given", "interval", "upper", "lower", "undetermined")


def overview(run: Run) -> Overview:
    """Summarise the market that the sheets of a run form.

    >>> from invert.inference import infer
    >>> found = overview(infer(["gpt-5.4", "gpt-5.5", "gpt-6-sol"]))
    >>> found.offers, [(one.premium_in, one.premium_out, dict(one.thresholds)) for one in found.premiums]
    (3, [(2.0, 1.5, {272000: 3})])
    """
    alike = _group_copies(run)
    offers, sold = [first for first, *_ in alike], {f"{provider}/{model}" for provider, model, *_ in run.base_inputs}
    unread = Counter(one.message for one in run.problems if one.row is None and one.origin in sold)
    return Overview(
        as_of=run.as_of,
        sheets=len(run),
        providers=len({one.sheet.provider for one in run}),
        no_result=_most_first(unread),
        beside=_most_first(Counter(key[-1] for key in run.beside if key not in run.not_picked)),
        not_picked=len(run.not_picked),
        of_other_days=0 if run.request.names or run.request.providers else run.of_other_days,
        release_unknown=sum(not one.release_known and one.kv_bytes["headline"].kind != "given" for one in run),
        copies=_most_first(Counter(copy.sheet.provider for _, *copies in alike for copy in copies)),
        offers=len(offers),
        outcomes=tuple(_outcomes(offers)),
        carried=tuple(_carried(offers, run)),
        premiums=tuple(_premiums(offers)),
        sizes=tuple(_sizes(offers)),
    )


def _most_first(counts: Counter[str]) -> dict[str, int]:
    """Sort counts, the largest first and equal ones by name."""
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _group_copies(run: Run) -> list[list[Inference]]:
    """Group every offer with its copies. The offer is the maker's sheet if there is one, else the first by name."""
    near: dict[tuple[object, ...], list[tuple[_Asked, Inference]]] = {}
    for one in run:
        asked = {place: (price.amount, price.currency, price.per) for place, price in prices_by_place(one.sheet).items()}
        but_lifetimes = frozenset((place[:2], price) for place, price in asked.items())
        near.setdefault((bare_name(one.sheet.model), one.sheet.service_tier, but_lifetimes), []).append((asked, one))
    return [sorted(of_one, key=_precedence) for found in near.values() for of_one in _group_by_lifetimes(found)]


def _group_by_lifetimes(found: Sequence[tuple[_Asked, Inference]]) -> Iterator[list[Inference]]:
    """Group sheets of equal prices by the lifetimes of their caches. A blank lifetime joins a sheet that names it."""
    groups: list[list[tuple[_Asked, Inference]]] = []
    for asked, one in sorted(found, key=lambda pair: _blank_lifetimes(pair[0])):
        group = next((group for group in groups if asks_no_more(asked, group[0][0])), None)
        if group is None:
            groups.append(group := [])
        group.append((asked, one))
    yield from ([one for _, one in group] for group in groups)


def _blank_lifetimes(asked: _Asked) -> int:
    return sum(component == "cache_write" and lifetime is None for component, _, lifetime in asked)


def _precedence(one: Inference) -> tuple[object, ...]:
    return not one.is_maker, len(one.sheet.model), one.key


# What comes of them.


def _outcomes(offers: Sequence[Inference]) -> Iterator[Outcome]:
    """Count the kinds of every estimate, by quantity and estimator."""
    yield _outcome("active_params", "market", [one.market["active_params"] for one in offers])
    for estimator in dict.fromkeys(name for one in offers for name in one.kv_bytes):
        yield _outcome("kv_bytes_per_token", estimator, [one.kv_bytes[estimator] for one in offers])
    for quantity in dict.fromkeys(name for one in offers for name in one.estimates):
        yield _outcome(quantity, "", [one.estimates[quantity] for one in offers if quantity in one.estimates], len(offers))


def _outcome(quantity: str, estimator: str, found: Sequence[Estimate], offers: int = 0) -> Outcome:
    """Count the offers by kind of one estimate, with the reasons. Offers without the estimate lack the price that it needs."""
    kinds = Counter(one.kind for one in found)
    because = Counter(one.because for one in found if one.kind not in ("given", "interval"))
    if (lacking := offers - len(found)) > 0:
        kinds["undetermined"] += lacking
        because[_NOTHING_SOLD] += lacking
    return Outcome(
        quantity=quantity,
        estimator=estimator,
        kinds={kind: kinds[kind] for kind in _KINDS if kinds[kind]},
        because=_most_first(because),
    )


# What they carry.


def _carried(offers: Sequence[Inference], run: Run) -> Iterator[Carried]:
    """Count every ratio of prices that offers have, cache writes by lifetime and service tiers by name."""
    found: dict[tuple[str, str], list[tuple[str, float]]] = {}
    tiers = _tiers(run)
    for one in offers:
        for name, value in _ratios(one, tiers):
            found.setdefault(name, []).append((one.sheet.provider, float(f"{value:.{_DIGITS}g}")))
    for observable, of in sorted(
        found, key=lambda name: (_OBSERVABLES.index(name[0]), int(name[1]) if name[1].isdecimal() else 0, name[1])
    ):
        asked = found[observable, of]
        values = [value for _, value in asked]
        commonest, count = min(Counter(values).items(), key=lambda pair: (-pair[1], pair[0]))
        yield Carried(
            observable=observable,
            of=of,
            offers=len(asked),
            providers=len({provider for provider, _ in asked}),
            commonest=commonest,
            at_commonest=count,
            span=_span(values),
        )


def _tiers(run: Run) -> dict[tuple[str, str, str], dict[str, float]]:
    """Return the base input price [USD/token] of every service tier, by provider, model and region."""
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for (provider, model, region, tier), asked in run.base_inputs.items():
        found.setdefault((provider, model, region), {})[tier] = asked
    return found


def _ratios(one: Inference, tiers: Mapping[tuple[str, str, str], Mapping[str, float]]) -> Iterator[tuple[tuple[str, str], float]]:
    seen, sheet = one.observables, one.sheet
    yield ("output_input_ratio", ""), seen.output_input_ratio.value
    for pair in seen.pairs[:1]:
        yield ("premium_in", ""), pair.premium_in.value
        yield ("premium_out", ""), pair.premium_out.value
    if seen.cache_read_ratio:
        yield ("cache_read_ratio", ""), seen.cache_read_ratio.value
    for write in seen.cache_write_premiums:
        yield ("cache_write_premium", str(write.ttl_seconds or "")), write.premium
    if seen.storage_price:
        yield ("storage_price", ""), seen.storage_price.value
    for tier, asked in tiers.get((sheet.provider, sheet.model, sheet.region), {}).items():
        if tier != sheet.service_tier:
            yield ("input_price_of_service_tier", tier), asked / sheet.bands[0].input.usd_per_token


def _span(values: Sequence[float]) -> Span:
    return Span(low=min(values), median=median(values), high=max(values))


def _premiums(offers: Iterable[Inference]) -> list[SharedPremiums]:
    """Count the pairs of premiums above a first threshold, the most common first."""
    asking: dict[tuple[float, float], list[tuple[str, BandPair]]] = {}
    for one in offers:
        for pair in one.observables.pairs[:1]:
            asked = float(f"{pair.premium_in.value:.{_DIGITS}g}"), float(f"{pair.premium_out.value:.{_DIGITS}g}")
            asking.setdefault(asked, []).append((one.sheet.provider, pair))
    found = [
        SharedPremiums(
            premium_in=over,
            premium_out=beyond,
            offers=len(asked),
            providers=len({provider for provider, _ in asked}),
            thresholds=dict(Counter(pair.long_context_threshold for _, pair in asked).most_common()),
        )
        for (over, beyond), asked in asking.items()
    ]
    return sorted(found, key=lambda one: (-one.offers, -one.providers, one.premium_in, one.premium_out))


# Which sizes they suggest.


def _sizes(offers: Iterable[Inference]) -> list[ProviderSizes]:
    of_provider: dict[str, list[Inference]] = {}
    for one in offers:
        of_provider.setdefault(one.sheet.provider, []).append(one)
    found = []
    for provider, sold in of_provider.items():
        sizes = [one.active_params for one in sold if one.active_params is not None]
        found.append(
            ProviderSizes(
                provider=provider,
                makes=2 * sum(one.is_maker for one in sold) > len(sold),
                offers=len(sold),
                sized=len(sizes),
                span=_span(sizes) if sizes else None,
            )
        )
    return sorted(found, key=lambda one: (not one.makes, -one.offers, one.provider))
