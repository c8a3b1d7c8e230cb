"""Test inferences from lists with one band, on hosts of one model: only the price differs between them."""

from collections.abc import Iterable, Sequence
from math import log
from statistics import median

from derive.preset_rows import OpenModel
from invert.assumptions import Assumptions
from invert.estimators.market.hosts import (
    commonest,
    fraction_span,
    rank_correlation,
    rented_host_prices,
    spread_of_output_input_ratio,
    spread_within,
)
from invert.estimators.market.panel import Priced
from invert.records import Verdict
from invert.sheets.tables import HostPrice

_Row = dict[str, object]
_NOT_FLAT = "the same, no flat tariffs"
"""Hosts of one model whose output costs another price than input."""
_SAID_RATIO = 5
"""Output over input as the lecture reads it."""


def single_band_rows(
    hosts: Sequence[HostPrice],
    open_models: Iterable[OpenModel],
    listed: Iterable[Priced],
    verdict: Verdict | None,
    assumptions: Assumptions,
) -> list[_Row]:
    """Return the rows on output over input, cache reads and batches of one band. `verdict` is that on cache reads of makers' lists."""
    known = {row.model: row for row in open_models}
    return [
        *_price_rows(hosts, assumptions),
        *_cache_read_row(hosts, known, assumptions),
        _list_rows(listed),
        _skill_row(verdict),
        _batch_row(hosts),
    ]


def _row(observable: str, over: str, models: int | None, prices: int | None, found: str, so: str) -> _Row:
    return {"observable": observable, "found": found, "over": over, "models": models, "prices": prices, "so": so}


def _price_rows(hosts: Sequence[HostPrice], assumptions: Assumptions) -> list[_Row]:
    ratio = spread_of_output_input_ratio(hosts, assumptions.least_hosts)
    low, high = fraction_span(_SAID_RATIO, ratio.pooled, assumptions.level)
    said, _ = fraction_span(_SAID_RATIO, 0.0, assumptions.level)
    over = "rented hosts of one model"
    rows = [
        _row(
            "ln output/input",
            _NOT_FLAT,
            ratio.models,
            ratio.prices,
            f"sd {ratio.pooled:.2f}, median {ratio.middle:.2f}",
            "what differs is the host",
        ),
        _row(
            f"fraction at {_SAID_RATIO}",
            _NOT_FLAT,
            ratio.models,
            ratio.prices,
            f"{low:.0%} to {high:.0%}",
            f"bandwidth-bound by 1 - 1/R, {assumptions.level:.0%} of hosts. 1 - 1/R itself says {said:.0%}",
        ),
    ]
    by_model = rented_host_prices(hosts, assumptions.least_hosts).values()
    for name in ("input", "output"):
        price = spread_within([log(getattr(row, f"{name}_price")) for row in of_one] for of_one in by_model)
        rows.append(
            _row(
                f"ln {name}",
                over,
                price.models,
                price.prices,
                f"sd {price.pooled:.2f}, median {price.middle:.2f}",
                "what differs is the host",
            )
        )
    return rows


def _cache_read_row(hosts: Sequence[HostPrice], known: dict[str, OpenModel], assumptions: Assumptions) -> list[_Row]:
    """Compare cache read over input, the median of a model's hosts, with its KV bytes and its KV bytes per parameter."""
    offered = rented_host_prices((row for row in hosts if row.cache_read_price), assumptions.least_hosts)
    ratios = {model: [row.cache_read_price / row.input_price for row in rows if row.cache_read_price] for model, rows in offered.items()}
    of_known = {model: median(of_one) for model, of_one in ratios.items() if model in known and known[model].kv_bytes_per_token}
    kv = [known[model].kv_bytes_per_token or 0.0 for model in of_known]
    a_parameter = [one / known[model].active_params for one, model in zip(kv, of_known, strict=True)]
    prices = sum(len(ratios[model]) for model in of_known)
    return [
        _row(f"cache read: {name}", "medians of rented hosts", len(of_known), prices, *_correlation([*of_known.values()], truth))
        for name, truth in (("KV", kv), ("KV/active", a_parameter))
    ]


def _list_rows(listed: Iterable[Priced]) -> _Row:
    known = [
        (row.cache_read_price / row.input_price, row.kv_bytes_per_token)
        for row in listed
        if row.cache_read_price and row.kv_bytes_per_token
    ]
    ratios, kv = [ratio for ratio, _ in known], [of_token for _, of_token in known]
    return _row("cache read on lists: KV", "list prices of makers", len(known), len(known), *_correlation(ratios, kv))


def _skill_row(verdict: Verdict | None) -> _Row:
    """Return the gain of cache reads on lists over the typical KV, in predicting stored KV bytes."""
    if verdict is None:
        return _row("cache read, skill", "families left out", None, None, "-", "too few lists")
    found = f"log density {verdict.by_price:.2f}, class {verdict.by_class:.2f}"
    so = f"gain of a pool {verdict.gain_of_pool:+.2f} nat: it {'has' if verdict.enters else 'has no'} skill"
    return _row("cache read, skill", "families left out", verdict.count, verdict.count, found, so)


def _batch_row(hosts: Sequence[HostPrice]) -> _Row:
    offered = [row for row in hosts if row.batch_input_price and not row.size_bucket]
    value, share = commonest(row.batch_input_price / row.input_price for row in offered if row.batch_input_price)
    models = len({row.model for row in offered})
    return _row(
        "batch/input",
        "all hosts that have one",
        models,
        len(offered),
        f"{value:.2f} in {share:.0%}",
        "one number for all: no information about a model",
    )


def _correlation(ratios: Sequence[float], truth: Sequence[float]) -> tuple[str, str]:
    """Return the rank correlation and its significance."""
    found, error = rank_correlation(ratios, truth)
    sure = "above" if abs(found) > 2 * error else "below"
    return f"rank correlation {found:+.2f}", f"{sure} two standard errors, of {error:.2f} each. The median ratio is {median(ratios):.2f}"
