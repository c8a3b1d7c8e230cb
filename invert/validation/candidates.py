"""Test what no estimate uses: observables that may predict KV bytes better than typical KV, and inferences from sheets with one band.

Each candidate is tested on models with a known cache. Hosts of one model differ only in their prices.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from math import log, sqrt
from statistics import fmean, median

from derive.errors import WrongData
from derive.preset_rows import OpenModel
from invert.assumptions import UNLESS_GIVEN, USUAL, Assumptions
from invert.data import Data, cache_with_data
from invert.estimators import panel
from invert.estimators.known import cases_of_known_cache
from invert.estimators.prediction import grouped, pool_verdict, predict_in_order
from invert.estimators.premium import members
from invert.estimators.size import SIZES_JUDGED_SINCE
from invert.estimators.typical_kv import DAYS, Bytes, Cache, TypicalKV, typical_kv
from invert.records import Verdict
from invert.sheets.rows import HostPrice

HAVING_A_PREMIUM = "having a premium"
"""The candidate that knows only whether long context costs more."""
_Rows = list[tuple[Cache, tuple[float, ...]]]
CANDIDATES: Mapping[str, Bytes] = {
    "cache_read_ratio": "stored",
    **dict.fromkeys(
        ("output_input_ratio", "input_price", "output_price", "vendor", "release_date", "release_date and max_context"), "read"
    ),
}
"""Prices, KV bytes of other models of the vendor, and lines through the dates and contexts of all architectures.

A candidate replaces the typical KV if it passes both with families left out and on later models."""
LEFT_OUT: Mapping[str, date | None] = {"family": None, "later": date.min, f"since {SIZES_JUDGED_SINCE.year}": SIZES_JUDGED_SINCE}
"""What a prediction does not use: the family of the model, or also all later releases, for models released from a day on."""


def predictors_of(cache: Cache, row: panel.Priced | None, rows: Sequence[panel.Priced]) -> dict[str, tuple[float, ...]]:
    """Return the input numbers of each candidate that has them, from a cache, the listed model with it, and all listed models."""
    day = cache.released.toordinal() / DAYS
    found: dict[str, tuple[float, ...]] = {"release_date": (day,)}
    if cache.max_context:
        found["release_date and max_context"] = (day, log(cache.max_context))
    if row is None:
        return found
    found |= {"output_input_ratio": (log(row.output_price / row.input_price),)}
    found |= {"input_price": (log(row.input_price),), "output_price": (log(row.output_price),)}
    if row.cache_read_price:
        found["cache_read_ratio"] = (log(row.cache_read_price / row.input_price),)
    # Earlier models of other families that the vendor sells.
    sold = [
        one for one in rows if one.vendor == row.vendor and one.release_date < row.release_date and one.price_family != row.price_family
    ]
    if others := [log(one.kv_bytes_per_token) for one in sold if one.kv_bytes_per_token]:
        found["vendor"] = (fmean(others),)
    return found


def candidate_rows(caches: Iterable[Cache], priced: Sequence[panel.Priced]) -> dict[str, _Rows]:
    """Return the caches for which each candidate has numbers, with these numbers."""
    listed = {row.architecture: row for row in reversed(priced)}
    found: dict[str, _Rows] = {name: [] for name in CANDIDATES}
    for one in caches:
        for name, numbers in predictors_of(one, listed.get(one.architecture), priced).items():
            found[name].append((one, numbers))
    return found


def judge_predictors(rows: _Rows, typical: TypicalKV, since: date | None, assumptions: Assumptions = USUAL) -> Verdict | None:
    """Return the gain of numbers per cache over typical KV, or None for too few caches.

    Each cache is predicted by a line through other families. With `since`, only caches released from that day on are tested, each by a line
    through the caches released before it.
    """
    if not rows:
        return None
    caches, numbers = zip(*rows, strict=True)
    families = [one.family for one in caches]
    table = grouped([one.ln_kv for one in caches], families, *zip(*numbers, strict=True), assumptions=assumptions)
    by_line = predict_in_order(table, [one.released for one in caches], since, assumptions.least_to_learn).judge(table.target)
    return pool_verdict(families, by_line.log_density, typical.judge(caches).log_density, assumptions)


@cache_with_data
def verdicts(data: Data, assumptions: Assumptions = USUAL) -> Mapping[tuple[str, str], Verdict | None]:
    """Return the test result of each candidate, by its name and by the left-out group."""
    typical = typical_kv(data, assumptions)
    by_bytes = {of: candidate_rows(one.caches, panel.listed_models(data)) for of, one in typical.items()}
    # Every known cache with a sheet, on sale or in the calibration, and whether long context costs more there.
    caches, usual = typical["read"].by_name, assumptions.without_facts(UNLESS_GIVEN)
    sold = [(case.sheet, cache.architecture) for case, cache in cases_of_known_cache(data, usual)]
    sold += [(one.case.sheet, one.architecture) for one in members(data, usual)]
    asked = {(sheet.provider, sheet.model): (caches[name], float(sheet.has_premium)) for sheet, name in sold if name in caches}
    premium: _Rows = [(cache, (has_premium,)) for cache, has_premium in asked.values()]
    rows = [(HAVING_A_PREMIUM, typical["read"], premium)]
    rows += [(name, typical[of], by_bytes[of][name]) for name, of in CANDIDATES.items()]
    return {
        (name, left_out): judge_predictors(of_one, baseline, since, assumptions)
        for name, baseline, of_one in rows
        for left_out, since in LEFT_OUT.items()
    }


_COLUMNS = ("observable", "found", "over", "models", "prices", "so")
_Cells = tuple[str, str, str, int | None, int | None, str]
_LECTURE_RATIO = 5
"""Output over input price, by the lecture's reading."""


def single_band_rows(hosts: Sequence[HostPrice], data: Data, assumptions: Assumptions = USUAL) -> list[dict[str, object]]:
    """Test output/input, cache reads and batches on lists with one band, against hosts of one model."""
    offered = [row for row in hosts if row.batch_input_price and not row.size_bucket]
    value, share = commonest(row.batch_input_price / row.input_price for row in offered if row.batch_input_price)
    models, all_alike = len({row.model for row in offered}), "one number for all: no information about a model"
    batch = ("batch/input", f"{value:.2f} in {share:.0%}", "all hosts that have one", models, len(offered), all_alike)
    cells = (*_price_rows(hosts, assumptions), *_cache_read_rows(hosts, data, assumptions), batch)
    return [dict(zip(_COLUMNS, row, strict=True)) for row in cells]


def _price_rows(hosts: Sequence[HostPrice], assumptions: Assumptions) -> Iterator[_Cells]:
    """Yield the spread of output/input, input and output between hosts of one model, and the bandwidth-bound fraction it leaves."""
    least, level = assumptions.least_hosts, assumptions.level
    ratio, not_flat = panel.spread_of_output_input_ratio(hosts, least), "the same, no flat tariffs"
    rented = panel.rented_host_prices(hosts, least).values()
    prices = {
        f"ln {of}": panel.spread_within([log(getattr(row, f"{of}_price")) for row in rows] for rows in rented) for of in ("input", "output")
    }
    for observable, found in {"ln output/input": ratio, **prices}.items():
        spread, over = f"sd {found.pooled:.2f}, median {found.middle:.2f}", not_flat if found is ratio else "rented hosts of one model"
        yield observable, spread, over, found.models, found.prices, "what differs is the host"
    (low, high), (reading, _) = (panel.fraction_span(_LECTURE_RATIO, spread, level) for spread in (ratio.pooled, 0.0))
    so = f"bandwidth-bound by 1 - 1/R, {level:.0%} of hosts. 1 - 1/R itself says {reading:.0%}"
    yield f"fraction at {_LECTURE_RATIO}", f"{low:.0%} to {high:.0%}", not_flat, ratio.models, ratio.prices, so


def _cache_read_rows(hosts: Sequence[HostPrice], data: Data, assumptions: Assumptions) -> Iterator[_Cells]:
    """Compare cache read over input with KV bytes and with KV bytes per parameter, at hosts (medians) and on makers' lists."""
    offered = panel.rented_host_prices((row for row in hosts if row.cache_read_price), assumptions.least_hosts)
    known = {row.model: row for row in panel.rows_so_far(data, OpenModel) if row.kv_bytes_per_token and row.model in offered}
    ratios = [median((row.cache_read_price or 0.0) / row.input_price for row in offered[model]) for model in offered if model in known]
    kv = [(known[model].kv_bytes_per_token or 0.0, known[model].active_params) for model in offered if model in known]
    at_hosts, prices = "medians of rented hosts", sum(len(offered[model]) for model in known)
    yield _correlation_row("cache read: KV", at_hosts, ratios, [one for one, _ in kv], prices)
    yield _correlation_row("cache read: KV/active", at_hosts, ratios, [one / params for one, params in kv], prices)
    listed = [row for row in panel.listed_models(data) if row.cache_read_price and row.kv_bytes_per_token]
    on_lists = [(row.cache_read_price or 0.0) / row.input_price for row in listed]
    truth = [row.kv_bytes_per_token or 0.0 for row in listed]
    yield _correlation_row("cache read on lists: KV", "list prices of makers", on_lists, truth, len(listed))
    verdict = verdicts(data, assumptions)["cache_read_ratio", "family"]
    found, count, so = "-", None, "too few lists"
    if verdict:
        found, count = f"log density {verdict.by_price:.2f}, class {verdict.by_baseline:.2f}", verdict.count
        so = f"gain of a pool {verdict.gain_of_pool:+.2f} nat: it {'has' if verdict.enters else 'has no'} skill"
    yield "cache read, skill", found, "families left out", count, count, so


def _correlation_row(observable: str, over: str, ratios: Sequence[float], truth: Sequence[float], prices: int) -> _Cells:
    """Return the rank correlation of prices with true values, and its significance."""
    found, error = rank_correlation(ratios, truth)
    sure = "above" if abs(found) > 2 * error else "below"
    so = f"{sure} two standard errors, of {error:.2f} each. The median ratio is {median(ratios):.2f}"
    return observable, f"rank correlation {found:+.2f}", over, len(ratios), prices, so


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
