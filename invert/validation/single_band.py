"""Test inferences from sheets with one band, on hosts of one model, which differ only in their prices."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log
from statistics import median

from derive.preset_rows import OpenModel
from invert.assumptions import Assumptions
from invert.estimators.panel import (
    Priced,
    SpreadWithin,
    commonest,
    fraction_span,
    rank_correlation,
    rented_host_prices,
    spread_of_output_input_ratio,
    spread_within,
)
from invert.records import Verdict
from invert.sheets.tables import HostPrice

_Row = dict[str, object]
_COLUMNS = ("observable", "found", "over", "models", "prices", "so")
_Cells = tuple[str, str, str, int | None, int | None, str]
_NOT_FLAT = "the same, no flat tariffs"
"""Hosts of one model whose output costs another price than input."""
_LECTURE_RATIO = 5
"""Output over input price, by the lecture's reading."""


def single_band_rows(
    hosts: Sequence[HostPrice],
    open_models: Iterable[OpenModel],
    listed: Sequence[Priced],
    verdict: Verdict | None,
    assumptions: Assumptions,
) -> list[_Row]:
    """Return the rows on output over input, cache reads and batches of one band. `verdict` is on cache reads of makers' lists."""
    known = {row.model: row for row in open_models}
    cells = (*_price_rows(hosts, assumptions), *_cache_read_rows(hosts, known, listed, assumptions), _skill_row(verdict), _batch_row(hosts))
    return [dict(zip(_COLUMNS, row, strict=True)) for row in cells]


def _price_rows(hosts: Sequence[HostPrice], assumptions: Assumptions) -> Iterator[_Cells]:
    """Yield the spread of output/input, input and output between hosts of one model, and the bandwidth-bound fraction it leaves."""
    ratio, level = spread_of_output_input_ratio(hosts, assumptions.least_hosts), f"{assumptions.level:.0%}"
    (low, high), (reading, _) = (fraction_span(_LECTURE_RATIO, spread, assumptions.level) for spread in (ratio.pooled, 0.0))
    yield _spread_row("ln output/input", _NOT_FLAT, ratio)
    so = f"bandwidth-bound by 1 - 1/R, {level} of hosts. 1 - 1/R itself says {reading:.0%}"
    yield f"fraction at {_LECTURE_RATIO}", f"{low:.0%} to {high:.0%}", _NOT_FLAT, ratio.models, ratio.prices, so
    by_model = rented_host_prices(hosts, assumptions.least_hosts).values()
    for name in ("input", "output"):
        price = spread_within([log(getattr(row, f"{name}_price")) for row in of_one] for of_one in by_model)
        yield _spread_row(f"ln {name}", "rented hosts of one model", price)


def _spread_row(observable: str, over: str, found: SpreadWithin) -> _Cells:
    spread = f"sd {found.pooled:.2f}, median {found.middle:.2f}"
    return observable, spread, over, found.models, found.prices, "what differs is the host"


def _cache_read_rows(
    hosts: Sequence[HostPrice], known: Mapping[str, OpenModel], listed: Sequence[Priced], assumptions: Assumptions
) -> Iterator[_Cells]:
    """Compare cache read over input with KV bytes and with KV bytes per parameter, at hosts (medians) and on makers' lists."""
    offered = rented_host_prices((row for row in hosts if row.cache_read_price), assumptions.least_hosts)
    ratios = {model: [row.cache_read_price / row.input_price for row in rows if row.cache_read_price] for model, rows in offered.items()}
    of_known = [(known[model], median(of_one), len(of_one)) for model, of_one in ratios.items() if model in known]
    rows = [(row, ratio, row.kv_bytes_per_token, prices) for row, ratio, prices in of_known if row.kv_bytes_per_token]
    for name, truth in (("KV", [kv for _, _, kv, _ in rows]), ("KV/active", [kv / row.active_params for row, _, kv, _ in rows])):
        found, so = _correlation([ratio for _, ratio, _, _ in rows], truth)
        yield f"cache read: {name}", found, "medians of rented hosts", len(rows), sum(prices for *_, prices in rows), so
    pairs = [
        (row.cache_read_price / row.input_price, row.kv_bytes_per_token)
        for row in listed
        if row.cache_read_price and row.kv_bytes_per_token
    ]
    found, so = _correlation([ratio for ratio, _ in pairs], [kv for _, kv in pairs])
    yield "cache read on lists: KV", found, "list prices of makers", len(pairs), len(pairs), so


def _skill_row(verdict: Verdict | None) -> _Cells:
    """Return the gain of cache reads on lists over the typical KV, in predicting stored KV bytes."""
    name, over = "cache read, skill", "families left out"
    if verdict is None:
        return name, "-", over, None, None, "too few lists"
    found = f"log density {verdict.by_price:.2f}, class {verdict.by_baseline:.2f}"
    so = f"gain of a pool {verdict.gain_of_pool:+.2f} nat: it {'has' if verdict.enters else 'has no'} skill"
    return name, found, over, verdict.count, verdict.count, so


def _batch_row(hosts: Sequence[HostPrice]) -> _Cells:
    offered = [row for row in hosts if row.batch_input_price and not row.size_bucket]
    value, share = commonest(row.batch_input_price / row.input_price for row in offered if row.batch_input_price)
    found, models = f"{value:.2f} in {share:.0%}", len({row.model for row in offered})
    return "batch/input", found, "all hosts that have one", models, len(offered), "one number for all: no information about a model"


def _correlation(ratios: Sequence[float], truth: Sequence[float]) -> tuple[str, str]:
    """Return the rank correlation and its significance."""
    found, error = rank_correlation(ratios, truth)
    sure = "above" if abs(found) > 2 * error else "below"
    return f"rank correlation {found:+.2f}", f"{sure} two standard errors, of {error:.2f} each. The median ratio is {median(ratios):.2f}"
