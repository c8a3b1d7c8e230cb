"""Test what no estimate uses: observables that may predict KV bytes better than typical KV, and inferences from sheets with one band.

Each candidate is tested on models with a known cache. Hosts of one model differ only in their prices.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from math import log, sqrt
from statistics import fmean, median

import numpy as np

from derive.errors import WrongData
from derive.immutable import immutable
from derive.preset_rows import OpenModel
from invert.assumptions import USUAL, Assumptions
from invert.data import Data, cache_with_data
from invert.estimators import panel
from invert.estimators.prediction import fit, grouped, pool_verdict
from invert.estimators.size import SIZES_JUDGED_SINCE
from invert.estimators.typical_kv import DAYS, Bytes, Cache, TypicalKV, typical_kv
from invert.records import Verdict
from invert.sheets.rows import HostPrice


@immutable(kw_only=False)
class Candidate:
    """A method to predict KV bytes (read or stored). `observed` returns its input numbers for a cache, or None if they are not known. Its
    arguments are the cache, the listed model with this architecture (or None), and all listed models.
    """

    name: str
    of: Bytes
    observed: Callable[[Cache, panel.Priced | None, Sequence[panel.Priced]], tuple[float, ...] | None]


def _kv_of_vendor(_: Cache, row: panel.Priced | None, rows: Sequence[panel.Priced]) -> tuple[float, ...] | None:
    """Return the mean ln KV bytes of the earlier models of other families that the vendor sells."""
    sold = [one for one in rows if row and one.vendor == row.vendor and one.release_date < row.release_date]
    others = [log(one.kv_bytes_per_token) for one in sold if row and one.kv_bytes_per_token and one.price_family != row.price_family]
    return (fmean(others),) if others else None


CANDIDATES = (
    Candidate(
        "cache_read_ratio",
        "stored",
        lambda _, row, __: (log(row.cache_read_price / row.input_price),) if row and row.cache_read_price else None,
    ),
    Candidate("output_input_ratio", "read", lambda _, row, __: (log(row.output_price / row.input_price),) if row else None),
    Candidate("input_price", "read", lambda _, row, __: (log(row.input_price),) if row else None),
    Candidate("output_price", "read", lambda _, row, __: (log(row.output_price),) if row else None),
    Candidate("vendor", "read", _kv_of_vendor),
    Candidate("release_date", "read", lambda cache, _, __: (cache.released.toordinal() / DAYS,)),
    Candidate(
        "release_date and max_context",
        "read",
        lambda cache, _, __: (cache.released.toordinal() / DAYS, log(cache.max_context)) if cache.max_context else None,
    ),
)
"""Prices, KV bytes of other models of the vendor, and lines through the dates and contexts of all architectures.

A candidate replaces the typical KV if it passes both with families left out and on later models."""
LEFT_OUT: Mapping[str, date | None] = {"family": None, "later": date.min, f"since {SIZES_JUDGED_SINCE.year}": SIZES_JUDGED_SINCE}
"""What a prediction does not use: the family of the model, or also all later releases, for models released from a day on."""


def judge_candidate(
    candidate: Candidate, priced: Sequence[panel.Priced], typical: TypicalKV, since: date | None, assumptions: Assumptions = USUAL
) -> Verdict | None:
    """Return the gain of a candidate over typical KV, on the caches for which it has numbers, or None for too few caches."""
    listed = {row.architecture: row for row in reversed(priced)}
    found = [(one, candidate.observed(one, listed.get(one.architecture), priced)) for one in typical.caches]
    return judge_predictors([(one, numbers) for one, numbers in found if numbers is not None], typical, since, assumptions)


def judge_predictors(
    rows: Sequence[tuple[Cache, tuple[float, ...]]], typical: TypicalKV, since: date | None, assumptions: Assumptions = USUAL
) -> Verdict | None:
    """Return the gain of one number per cache. Each cache is predicted by a line through other families. With `since`, only caches released
    from that day on are tested, each by a line through the caches released before it.
    """
    judged = [(one, numbers) for one, numbers in rows if since is None or one.released >= since]
    by_line = np.full(len(judged), np.nan)
    for place, (one, numbers) in enumerate(judged):
        others = [(other, x) for other, x in rows if other.family != one.family and (since is None or other.released < one.released)]
        if len({other.family for other, _ in others}) >= assumptions.least_to_learn:
            truths, families = [other.ln_kv for other, _ in others], [other.family for other, _ in others]
            line = fit(grouped(truths, families, *zip(*(x for _, x in others), strict=True), assumptions=assumptions))
            by_line[place] = line.predict(np.array([[1.0, *numbers]])).judge(np.array([one.ln_kv])).log_density[0]
    by_baseline = typical.judge([one for one, _ in judged]).log_density
    return pool_verdict([one.family for one, _ in judged], by_line, by_baseline, assumptions)


@cache_with_data
def verdicts(data: Data, assumptions: Assumptions = USUAL) -> Mapping[tuple[str, str], Verdict | None]:
    """Return the test result of each candidate, by its name and by the left-out group."""
    priced, typical = panel.listed_models(data), typical_kv(data, assumptions)
    return {
        (one.name, left_out): judge_candidate(one, priced, typical[one.of], since, assumptions)
        for one in CANDIDATES
        for left_out, since in LEFT_OUT.items()
    }


_Row = dict[str, object]
_COLUMNS = ("observable", "found", "over", "models", "prices", "so")
_Cells = tuple[str, str, str, int | None, int | None, str]
_NOT_FLAT = "the same, no flat tariffs"
"""Hosts of one model whose output costs another price than input."""
_LECTURE_RATIO = 5
"""Output over input price, by the lecture's reading."""


def single_band_rows(hosts: Sequence[HostPrice], data: Data, assumptions: Assumptions = USUAL) -> list[_Row]:
    """Test output/input, cache reads and batches on lists with one band, against hosts of one model."""
    verdict = verdicts(data, assumptions)["cache_read_ratio", "family"]
    cells = (*_price_rows(hosts, assumptions), *_cache_read_rows(hosts, data, assumptions), _skill_row(verdict), _batch_row(hosts))
    return [dict(zip(_COLUMNS, row, strict=True)) for row in cells]


def _price_rows(hosts: Sequence[HostPrice], assumptions: Assumptions) -> Iterator[_Cells]:
    """Yield the spread of output/input, input and output between hosts of one model, and the bandwidth-bound fraction it leaves."""
    ratio, level = panel.spread_of_output_input_ratio(hosts, assumptions.least_hosts), f"{assumptions.level:.0%}"
    (low, high), (reading, _) = (panel.fraction_span(_LECTURE_RATIO, spread, assumptions.level) for spread in (ratio.pooled, 0.0))
    yield _spread_row("ln output/input", _NOT_FLAT, ratio)
    so = f"bandwidth-bound by 1 - 1/R, {level} of hosts. 1 - 1/R itself says {reading:.0%}"
    yield f"fraction at {_LECTURE_RATIO}", f"{low:.0%} to {high:.0%}", _NOT_FLAT, ratio.models, ratio.prices, so
    by_model = panel.rented_host_prices(hosts, assumptions.least_hosts).values()
    for name in ("input", "output"):
        price = panel.spread_within([log(getattr(row, f"{name}_price")) for row in of_one] for of_one in by_model)
        yield _spread_row(f"ln {name}", "rented hosts of one model", price)


def _spread_row(observable: str, over: str, found: panel.SpreadWithin) -> _Cells:
    spread = f"sd {found.pooled:.2f}, median {found.middle:.2f}"
    return observable, spread, over, found.models, found.prices, "what differs is the host"


def _cache_read_rows(hosts: Sequence[HostPrice], data: Data, assumptions: Assumptions) -> Iterator[_Cells]:
    """Compare cache read over input with KV bytes and with KV bytes per parameter, at hosts (medians) and on makers' lists."""
    known = {row.model: row for row in panel.rows_so_far(data, OpenModel)}
    offered = panel.rented_host_prices((row for row in hosts if row.cache_read_price), assumptions.least_hosts)
    ratios = {model: [row.cache_read_price / row.input_price for row in rows if row.cache_read_price] for model, rows in offered.items()}
    of_known = [(known[model], median(of_one), len(of_one)) for model, of_one in ratios.items() if model in known]
    rows = [(row, ratio, row.kv_bytes_per_token, prices) for row, ratio, prices in of_known if row.kv_bytes_per_token]
    for name, truth in (("KV", [kv for _, _, kv, _ in rows]), ("KV/active", [kv / row.active_params for row, _, kv, _ in rows])):
        found, so = _correlation([ratio for _, ratio, _, _ in rows], truth)
        yield f"cache read: {name}", found, "medians of rented hosts", len(rows), sum(prices for *_, prices in rows), so
    pairs = [
        (row.cache_read_price / row.input_price, row.kv_bytes_per_token)
        for row in panel.listed_models(data)
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


def rank_correlation(left: Sequence[float], right: Sequence[float]) -> tuple[float, float]:
    """Return Spearman's correlation of two rows of numbers, and its standard error without a correlation."""
    if min(len(set(left)), len(set(right))) < 2:
        raise WrongData("host_prices.csv or list_prices.csv: a correlation needs two models whose cache reads differ")
    # scipy.stats needs 0.7 s to load, and only this function and the check of the sampler use it.
    from scipy.stats import spearmanr

    return float(f"{spearmanr(left, right).statistic:.12g}"), 1 / sqrt(len(left) - 1)


def commonest(values: Iterable[float]) -> tuple[float, float]:
    """Return the most common value, to three digits, and its share. Raise `WrongData` if there are no values."""
    count = Counter(round(value, 3) for value in values)
    if not count:
        raise WrongData("host_prices.csv: no host has a usable price of a batch")
    ((value, most),) = count.most_common(1)
    return value, most / count.total()
