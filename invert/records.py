"""The records of the price side: published sheets, observables, and estimates."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import date
from functools import cached_property
from math import exp, inf, isclose, log
from sys import float_info
from typing import Any

from derive.catalogue import equation
from derive.immutable import cut, immutable
from derive.solving.result import Solution
from invert.assumptions import FACTS, USUAL, Assumptions
from invert.estimate_text import estimate_text, plain_digits, round_digits

Name = tuple[str, str]
"""A quantity and the estimator of it (empty if there is one alone), as JSON has them."""

OF_ARCHITECTURE = "architectures.csv"
"""The source of active_params that are not stated by the vendor: the table that counts them from the configuration."""
EXTRAPOLATED = "size extrapolated"
"""The flag of a size at a price outside those of open models."""
CLOSED_MODELS = "closed models"
"""The population of the record of closed models' sizes."""
_ROUNDING = 1e-9
"""Elasticity up to which an answer does not depend on an input, because it is only rounding."""


@immutable
class Observable:
    """A number of a sheet, with the cell [low, high] of values that round to this number."""

    name: str
    value: float
    low: float
    high: float


@immutable
class BandPair:
    """Two adjacent bands: the threshold between them, their mean contexts [token] and the ratios of their prices."""

    long_context_threshold: int
    short_context: float
    long_context: float
    output_input_ratio: Observable
    premium_in: Observable
    premium_out: Observable

    @property
    def values(self) -> dict[str, float]:
        """Its numbers by registry name."""
        return {
            "premium_in": self.premium_in.value,
            "premium_out": self.premium_out.value,
            "output_input_ratio": self.output_input_ratio.value,
            "short_context": self.short_context,
            "long_context": self.long_context,
        }


@immutable
class WritePremium:
    """Price of a cache write of one lifetime [s] over input, minus 1."""

    ttl_seconds: int | None
    premium: float


@immutable
class Observables:
    """All ratios of a sheet: write premiums by lifetime, the storage price in USD/token/s."""

    output_input_ratio: Observable
    pairs: tuple[BandPair, ...]
    contexts: tuple[float, ...]
    cache_read_ratio: Observable | None
    cache_write_premiums: tuple[WritePremium, ...]
    storage_price: Observable | None


@immutable(kw_only=False)
class Anchors:
    """The outside facts of all readings in one output, with their sources."""

    values: Mapping[str, float]
    origin: Mapping[str, str]


@immutable
class Reading:
    """One reading of a sheet: its quantities, and the steps of the catalogue (equation, unknown) that solve for them at `given` values.

    `fault` is the reason why it has no quantities, if the steps have an answer.
    """

    name: str
    values: Mapping[str, float] = field(default_factory=dict)
    steps: tuple[tuple[str, str], ...]
    given: Mapping[str, float]
    fault: str | None = None

    @cached_property
    def solution(self) -> Solution:
        """The solution of the steps, with formulas and elasticities, or with the reason of a refusal."""
        # A short report shows values alone, and needs no solver.
        from invert.steps import solve_steps

        return solve_steps(self.steps, self.given)

    @property
    def problem(self) -> str | None:
        """The reason why it has no quantities."""
        return None if self.values else self.fault or self.solution.why_not

    @property
    def anchors(self) -> tuple[str, ...]:
        """Outside facts with an elasticity above rounding errors. It is empty without an answer."""
        moved = [name for name, elasticity in self.elasticities.items() if elasticity]
        of_ridge = ("machine_balance_ratio", "bytes_per_weight") if "ridge_point" in moved else ()
        return tuple(name for name in FACTS if name in moved or name in of_ridge)

    @property
    def elasticities(self) -> Mapping[str, float]:
        """Per cent of the reading per per cent of each input, to six digits and without rounding errors. It is empty without an answer."""
        found = self.solution.answers[0].elasticities if self.values else {}
        return {name: round_digits(value) if abs(value) > _ROUNDING else 0.0 for name, value in found.items()}


@immutable
class Check:
    """A published price, or its ratio to another one, and its prediction by a reading. A bound is met if predicted <= published.

    `place` is the place of the price in its sheet.
    """

    component: str
    place: tuple[str, int, int | None]
    published: float
    predicted: float
    used_by_reading: bool
    inside_rounding_cell: bool
    bound: bool = False


def verdict(checks: tuple[Check, ...]) -> str:
    """Return pass or fail over the components that the reading did not use. A cache read alone is only a bound."""
    unused = [check for check in checks if not check.used_by_reading]
    if not unused:
        return "not testable"
    if not all(check.inside_rounding_cell for check in unused):
        return "fail"
    return "pass" if any(not check.bound for check in unused) else "pass (bound only)"


TIER_NAMES = {"hbm": "HBM", "ddr": "DDR", "cxl": "CXL", "flash": "flash", "hdd": "disk"}
"""The printed name of each memory tier."""


@immutable
class TierReading:
    """Storage tier of a lifetime, by the drain times of the lecture and of real devices."""

    ttl_seconds: int
    lecture: str
    devices: str
    disclosed: str | None


@immutable
class Tariff:
    """Result of two write prices: storage_price [USD/token/s], write_charge [USD/token], and their ratio as a drain_time [s].

    Each has its range over the rounding cells of both prices. A negative value is kept, and `problem` explains it.
    """

    shorter_ttl: int
    longer_ttl: int
    storage_price: Observable
    write_charge: Observable
    drain_time: Observable | None
    problem: str | None


@immutable
class PricedCase:
    """Probabilities by tier on one cost basis at the hardware prices of one year.

    `weight` is the posterior probability of the case, with equal prior probabilities.
    """

    basis: str
    year: int
    probabilities: Mapping[str, float]
    weight: float


@immutable(kw_only=False)
class SoleSource:
    """The only database that lists cache prices, and their lifetimes [s]. None is storage by the hour."""

    database: str
    ttls: tuple[int | None, ...]


@immutable(kw_only=False)
class SharedTariff:
    """Models of one vendor with the same prices of caches: equal write premiums by lifetime, and equal storage prices."""

    provider: str
    models: tuple[str, ...]


@immutable
class TierShares:
    """Probabilities of the memory tiers, and the least and greatest probability of each tier over cost bases and years.

    `agreed` are the fewest tiers with the level of the run in every case.
    """

    probabilities: Mapping[str, float]
    ranges: Mapping[str, tuple[float, float]]
    agreed: tuple[str, ...]

    @property
    def agreed_share(self) -> float:
        """The total probability of the agreed tiers."""
        return sum(self.probabilities[tier] for tier in self.agreed)

    @property
    def likeliest(self) -> str:
        """The tier with the largest probability."""
        return max(self.probabilities, key=self.probabilities.__getitem__)


@immutable
class TierEvidence:
    """Memory tiers of one cache lifetime (`ttl_seconds` is None for hourly storage). Fields are None without evidence.

    `cases` are the cost bases and years of hardware prices. `by_price` is their pooled posterior, `rented` and `owned` are the posteriors
    of each basis. `answer` is `by_price`, unless the vendor disclosed the tier. `sole_source`: one database decides the result. `lecture`
    is the tier by the drain-time rule, with drain times of the lecture. `answer` does not use it. `anchors` are the outside facts that the
    price-based result depends on.
    """

    ttl_seconds: int | None
    rented: Mapping[str, float] | None
    owned: Mapping[str, float] | None
    evidence: tuple[str, ...]
    implied_drain_time: float | None
    lecture: Mapping[str, float] | None
    disclosed: str | None
    cases: tuple[PricedCase, ...]
    by_price: TierShares | None
    answer: TierShares | None
    anchors: tuple[str, ...] = ()
    sole_source: SoleSource | None = None


@immutable
class NegativeControl:
    """One storage price for several models with a known architecture, and their stored KV bytes [byte/token]."""

    provider: str
    amount: float
    currency: str
    storage_price: float
    models: tuple[str, ...]
    kv_low: float
    kv_high: float

    @property
    def ratio(self) -> float:
        """Ratio of the KV bytes of models with the same price."""
        return self.kv_high / self.kv_low


@immutable
class RuleScore:
    """The score of a rule on the disclosed cases: mean ln P(disclosed), the number of right tiers, and the numbers of cases and vendors
    with an answer.
    """

    rule: str
    mean_log_score: float
    right: int
    answered: int
    cases: int
    vendors: int


@immutable
class KnownCache:
    """KV bytes per token of a model of known architecture, stored and read, in bf16 [byte/token]."""

    architecture: str
    grade: str
    stored: float
    read: float


@immutable
class Coverage:
    """Coverage at one level: ranges that contained the truth, of `count`, with the 90 % interval of the coverage."""

    level: float
    right: int
    count: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """Share of ranges that were right."""
        return self.right / self.count


@immutable
class Record:
    """Leave-one-group-out record of a predictor against the baseline. `of` names the population.

    `rms` is in nat. `gain` is the mean log density [nat] minus that of the baseline, with its standard error over groups and the bootstrap
    interval [5 %, 95 %] over groups.
    """

    count: int
    groups: int
    rms: float
    rms_of_baseline: float
    gain: float
    standard_error: float
    interval: tuple[float, float]
    coverage: tuple[Coverage, ...]
    of: str = "open models"

    def at(self, level: float) -> Coverage | None:
        """Return the coverage at this level, or None if it was not counted."""
        return next((one for one in self.coverage if isclose(one.level, level)), None)

    def has_skill(self, errors: float = USUAL.least_gain_in_errors) -> bool:
        """Return whether the gain over the baseline exceeds this number of standard errors."""
        return self.gain > errors * self.standard_error


@immutable
class FamilyWeight:
    """Contribution of one family to a typical KV: mean release day and mean KV bytes [byte/token] of its models, and its weight."""

    family: str
    released: date
    kv_bytes: float
    weight: float


@immutable
class FamilyWeights:
    """Families in an estimate, the heaviest first. `effective` is the equivalent number of equal weights."""

    effective: float
    weights: tuple[FamilyWeight, ...]


@immutable
class Bounds:
    """Ratios of bounds to the true cache on `count` sheets of models of known cache, and the number of bounds that were right.

    `right_at_one_byte` is this number for a cache with one byte per value instead of bf16.
    """

    count: int
    right: int
    right_at_one_byte: int
    least: float
    median: float
    most: float


@immutable
class Verdict:
    """Gain of a price observable over the baseline. Log densities are means over families.

    `weight` is the pool's weight over all families. It is 0 if the gain of the pool is at most `least_gain` standard errors.
    """

    count: int
    families: int
    by_baseline: float
    by_price: float
    gain_of_pool: float
    standard_error: float
    stacked: float
    least_gain: float = USUAL.least_gain_in_errors

    @property
    def gain_of_price(self) -> float:
        """Gain of the price alone over the baseline."""
        return self.by_price - self.by_baseline

    @property
    def enters(self) -> bool:
        """Whether the price counts in an estimate."""
        return self.gain_of_pool > self.least_gain * self.standard_error

    @property
    def weight(self) -> float:
        """Weight of the price in an estimate."""
        return self.stacked if self.enters else 0.0


@immutable
class Estimate:
    """An interval, an upper or a lower bound at `level`, a point, a given number, or undetermined, in SI units.

    `contraction` is 1 minus the ratio of posterior to prior variance (of logarithms). It is 0 if the prices add no information, and small
    if the prior dominates. `anchors` are the outside facts that change its numbers or its kind. `record` is the track record of the
    estimator, `bounds` the record of its bounds. An estimate with neither is printed without a `level`. `families` are the families of a
    typical KV. `quantity` gives the unit of its text.

    >>> print(Estimate(kind="interval", median=154712.0, low=42193.0, high=546700.0, quantity="kv_bytes_per_token"))
    150 kB (42-550) at 90 %
    """

    kind: str
    median: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = USUAL.level
    because: str = ""
    equations: tuple[str, ...] = ()
    contraction: float | None = None
    anchors: tuple[str, ...] = ()
    prior_dominated: bool = False
    record: Record | None = None
    bounds: Bounds | None = None
    families: FamilyWeights | None = None
    quantity: str = ""

    @property
    def middle(self) -> float | None:
        """Its median, or the end of a bound."""
        return self.median or (self.high if self.kind == "upper" else self.low if self.kind == "lower" else None)

    @property
    def coverage(self) -> tuple[int, int] | None:
        """Count of ranges (or bounds) of this level that contained the truth, and count of all, or None without a record."""
        if self.bounds:
            return self.bounds.right, self.bounds.count
        found = self.record.at(self.level) if self.record and self.level else None
        return (found.right, found.count) if found else None

    def __repr__(self) -> str:
        return f"Estimate({self})"

    def __str__(self) -> str:
        """Text with its unit, and with the record of its ranges.

        >>> str(Estimate(kind="upper", high=2e3)), str(Estimate(kind="lower", low=3e-8))
        ('< 2000 at 90 %', '> 0.00000003 at 90 %')
        """
        if self.kind == "undetermined":
            return cut(f"{self.kind}: {self.because}" if self.because else self.kind)
        ranged = self.kind in ("interval", "upper", "lower") and self.level
        right = ", right for {} of {}".format(*self.coverage) if ranged and self.coverage else ""
        return estimate_text(self.quantity, self) + (f" at {100 * (self.level or 0):.0f} %" if ranged else "") + right


def finished_estimate(quantity: str, estimate: Estimate, assumptions: Assumptions = USUAL, record: Record | None = None) -> Estimate:
    """Return the estimate of a quantity, a range with the track record of its estimator. Without one it has no level.

    >>> print(finished_estimate("active_params", Estimate(kind="interval", median=2e9, low=1e9, high=4e9)))
    2 B (1-4)
    """
    by_prior = estimate.contraction is not None and estimate.contraction < assumptions.prior_dominated_below
    own = estimate.record or (record if estimate.kind == "interval" else None)
    found = replace(estimate, quantity=quantity, level=assumptions.level, prior_dominated=by_prior, record=own)
    return found if found.coverage else replace(found, level=None)


def interval(ends: Sequence[float], because: str, **more: Any) -> Estimate:
    """Return an interval with its low end, its median and its high end."""
    low, median, high = ends
    return Estimate(kind="interval", low=low, median=median, high=high, because=because, **more)


def given_value(value: float, quantity: str) -> Estimate:
    """Return a given outside fact as an estimate. Prices do not move it."""
    because = "given, not estimated"
    return Estimate(kind="given", median=value, low=value, high=value, level=None, because=because, anchors=(quantity,), quantity=quantity)


def references(*ids: str) -> tuple[str, ...]:
    """Return equations as id@version."""
    return tuple(equation(id).reference for id in ids)


@immutable
class Identifiability:
    """Quantities that the prices of one sheet identify at one point.

    `missing_facts` has the smallest set of outside facts that determines each target, or None if all allowed facts do not.
    `degenerate_with` names the quantity that then moves with the target while every price and fact is unchanged ("" if the target moves
    alone).
    """

    regime: str
    prices: tuple[str, ...]
    rank: int
    nullity: int
    condition: float
    pinned: tuple[str, ...]
    missing_facts: Mapping[str, tuple[str, ...] | None]
    degenerate_with: Mapping[str, str]

    @property
    def hidden(self) -> int:
        """Number of hidden quantities, determined and free."""
        return self.rank + self.nullity

    def verdict(self, target: str) -> str:
        """Return in words whether it is determined, the facts that it needs, or the quantity from which it cannot be separated."""
        facts = self.missing_facts[target]
        if facts is None:
            other = self.degenerate_with[target]
            return f"not determined: {f'cannot be separated from {other}' if other else 'no combination of these prices gives it'}"
        return "needs " + ", ".join(facts) if facts else "determined by the prices"


@immutable(kw_only=False)
class Swing:
    """KV bytes over their central value with one input at each end of its range, or None if the prices then contradict the model."""

    name: str
    low: float | None
    high: float | None

    @property
    def width(self) -> float:
        """Width of the swing, for sorting. An end that contradicts the model is infinitely wide."""
        return abs(log(self.high / self.low)) if self.low and self.high and min(self.low, self.high) > 0 else inf


@immutable
class Premiums:
    """Prices of a vendor above the first threshold of a sheet, relative to the price below it."""

    provider: str
    premium_in: float
    premium_out: float


@immutable
class Convention:
    """Probability of premiums in these cells as a cost and as a habit of vendors, and the Bayes factor for the habit.

    `same` of `others` vendors have premiums in the cells. If `same` is 0, there is no factor.
    """

    premium_in: Observable
    premium_out: Observable
    probability_by_cost: float
    probability_by_habit: float
    same: int
    others: int

    @property
    def bayes_factor(self) -> float | None:
        """Bayes factor of habit against cost. It is a floor if the probability by cost is below the smallest float."""
        return self.probability_by_habit / max(self.probability_by_cost, float_info.min) if self.same else None


@immutable
class Misreading:
    """Errors of an estimator on models of known cache: mean (`bias`) and sd [nat] of ln(median / cache).

    `medians` of `models` have a median. bias and sd are None for fewer than two.
    """

    models: int
    medians: int
    bias: float | None
    sd: float | None

    @property
    def share(self) -> float | None:
        """The share of the true cache that it reads, in the geometric mean."""
        return None if self.bias is None else exp(self.bias)


@immutable
class Reliability:
    """Records for the estimates of a sheet, without its own model and models that share its cache (`left_out`).

    `models` have a known cache and a sheet of several bands. `misreadings` and `records` are by estimator. `beside` has the records of
    other quantities that an architecture states.
    """

    models: tuple[str, ...]
    left_out: tuple[str, ...]
    misreadings: Mapping[str, Misreading]
    records: Mapping[str, Record]
    beside: Mapping[str, Record]


@immutable(kw_only=False)
class PricingRules:
    """KV bytes by each pricing rule, for a compute-bound base band. A memory-bound base band multiplies all except the last by a factor."""

    solutions: Mapping[str, Solution]
    memory_bound_base_cost: float


@immutable(kw_only=False)
class TierRules:
    """The equation and the kind of the lecture's rule for tiers, and the score of every rule on tiers that vendors disclosed."""

    equation: str
    kind: str
    scores: tuple[RuleScore, ...]


@immutable
class Span:
    """Some ratios by their least, median and greatest."""

    low: float
    median: float
    high: float

    @property
    def text(self) -> str:
        """The median as an error of what was divided by: `126x low`."""
        return f"{plain_digits(max(self.median, 1 / self.median), 3)}x {'low' if self.median >= 1 else 'high'}"


@immutable
class AlsoSold:
    """The same model in another service tier or region: its first input price [USD/token], and its ratio to the price of the sheet."""

    service_tier: str
    region: str
    input_price: float
    times: float


@immutable
class FastMode:
    """A fast mode compared with the standard sheet: price ratio, stated speed ratio, and the results if price follows cost.

    `batch_ratio` is the standard batch over the batch of the fast mode. `slow_mode_floor` is the least cost of a slow mode over the
    standard price. Both are None without a stated speed.
    """

    price_ratio: float
    speed_ratio: float | None = None
    speed_source: str = ""
    batch_ratio: float | None = None
    slow_mode_floor: float | None = None


@immutable
class JudgedPrediction:
    """Prediction for a model with a known value: a range at `level` around a median, by a fit without this model."""

    model: str
    by: str
    truth: float
    low: float
    median: float
    high: float
    level: float

    @property
    def right(self) -> bool:
        """Whether the truth lies in the range."""
        return self.low <= self.truth <= self.high

    @property
    def ratios_to_truth(self) -> tuple[float, float, float]:
        """Low, median and high over the true value."""
        return self.low / self.truth, self.median / self.truth, self.high / self.truth
