"""The records of the price side: sheets as published, what is observed on them, and what they imply."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import wraps
from math import exp, inf, isclose, log
from sys import float_info
from typing import Generic, TypeVar

from derive.briefly import cut
from derive.catalogue import equation
from derive.errors import WrongData
from derive.immutable import immutable
from derive.show.values import text_of
from derive.solving.result import Answer, Reason, Solution
from invert.assumptions import FACTS, USUAL, Assumptions
from invert.data import Data
from invert.estimate_text import estimate_text

_T = TypeVar("_T")

OF_ARCHITECTURE = "architectures.csv"
"""Where active_params come from that nobody need have stated: the table that counts them by the configuration, or quotes who does."""
EXTRA_MARKUP = "with the extra price/cost that closed models of known size show"
"""What the size of a model by its price rests on where its vendor is taken for a closed one."""
CLOSED_MODELS = "closed models"
"""What the record of a closed model's size is of."""
_ROUNDING = 1e-9
"""Elasticity up to which an answer is flat in what was given: rounding alone."""


@immutable
class Observable:
    """A number read off a sheet, with the cell [low, high] of values that would have been published as the same number."""

    name: str
    value: float
    low: float
    high: float


@immutable
class BandPair:
    """Two adjacent bands: the threshold between them, their mean contexts [token] and the ratios of their prices."""

    long_context_threshold: int
    threshold_inclusive: bool
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
    """What a cache write of one lifetime [s] costs over input: its multiplier - 1."""

    ttl_seconds: int | None
    premium: float


@immutable
class Observables:
    """All ratios of a sheet; write premiums by lifetime, the storage price in USD/token/s."""

    output_input_ratio: Observable
    pairs: tuple[BandPair, ...]
    contexts: tuple[float, ...]
    cache_read_ratio: Observable | None
    cache_write_premiums: tuple[WritePremium, ...]
    storage_price: Observable | None


@immutable(kw_only=False)
class Anchors:
    """The outside facts every reading of one output is made with, and where each comes from."""

    values: Mapping[str, float]
    origin: Mapping[str, str]


@immutable
class Reading:
    """One reading of one band pair: every quantity it gives, the solution it rests on, or why it gives none."""

    name: str
    values: Mapping[str, float]
    solution: Solution
    problem: str | None = None

    @property
    def anchors(self) -> tuple[str, ...]:
        """The outside facts that move it: what its answer is not flat in, but for rounding, or none where it has no answer."""
        if not self.values:
            return ()
        moved = [name for name, elasticity in self.solution.answers[0].elasticities.items() if abs(elasticity) > _ROUNDING]
        of_ridge = ("machine_balance_ratio", "bytes_per_weight") if "ridge_point" in moved else ()
        return tuple(name for name in FACTS if name in moved or name in of_ridge)


def unanswered(name: str, solution: Solution) -> Reading:
    """A reading that gives no single number: the reason, or the bounds that are all there is."""
    found = " or ".join(text_of(solution.unknown, answer) for answer in solution.answers)
    why = why_not(solution.reason) or f"{solution.unknown} is not identified, only bounds are: {found}"
    return Reading(name=name, values={}, solution=solution, problem=why)


def why_not(reason: Reason | None) -> str:
    """The message of a reason; empty where there is none."""
    return reason.message if reason else ""


def the_point(answers: Sequence[Answer]) -> float:
    """The value of the one point that answers are.

    >>> the_point([Answer(kind="point", value=2.0)])
    2.0
    """
    (answer,) = answers
    if answer.value is None:
        raise ValueError(f"{answer} is no point")
    return answer.value


@immutable
class Check:
    """One component of the sheet against what a reading predicts. A bound is met when predicted <= published."""

    component: str
    published: float
    predicted: float
    used_by_reading: bool
    inside_rounding_cell: bool
    bound: bool = False


def verdict(checks: tuple[Check, ...]) -> str:
    """pass or fail over the components the reading did not use. A cache read alone bounds and proves little.

    >>> missed = Check(component="premium_out", published=1.5, predicted=1.2, used_by_reading=False, inside_rounding_cell=False)
    >>> verdict((missed,)), verdict(())
    ('fail', 'not testable')
    """
    unused = [check for check in checks if not check.used_by_reading]
    if not unused:
        return "not testable"
    if not all(check.inside_rounding_cell for check in unused):
        return "fail"
    return "pass" if any(not check.bound for check in unused) else "pass (bound only)"


def count_missed(checks: tuple[Check, ...]) -> tuple[int, int] | None:
    """Return how many of how many components that a reading did not use it misses, or None if there are none."""
    unused = [check.inside_rounding_cell for check in checks if not check.used_by_reading]
    return (unused.count(False), len(unused)) if unused else None


@immutable
class PairInference:
    """Everything read off one pair of bands, and what each reading predicts for the sheet.

    `claimed_ratio` is the output/input ratio that the lecture's reading of the threshold makes of the short context.
    """

    pair: BandPair
    lecture: Reading
    lecture_checks: tuple[Check, ...]
    claimed_ratio: float
    joint: Reading
    joint_checks: tuple[Check, ...]

    @property
    def joint_over_lecture(self) -> float | None:
        """How many times the lecture's KV bytes the joint ones are, or None where no KV bytes fit all prices together."""
        jointly, alone = (one.values.get("kv_bytes_per_token") for one in (self.joint, self.lecture))
        return jointly / alone if jointly and alone else None


TIER_NAMES = {"hbm": "HBM", "ddr": "DDR", "cxl": "CXL", "flash": "flash", "hdd": "disk"}
"""What each memory tier is called wherever it is printed."""


@immutable
class TierReading:
    """The storage tier a lifetime points to, by the lecture's drain times and by those of real devices."""

    ttl_seconds: int
    lecture: str
    devices: str
    disclosed: str | None


@immutable
class Tariff:
    """What two write prices say: storage_price [USD/token/s], write_charge [USD/token], and their ratio as a drain_time [s].

    Each with its range over the rounding cells of both prices. A negative one stands as it is, and `problem` says so.
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

    `weight` is the probability of the case by what is seen, all cases being as likely as another beforehand.
    """

    basis: str
    year: int
    probabilities: Mapping[str, float]
    weight: float


@immutable(kw_only=False)
class SoleSource:
    """The one database that lists prices of the cache, and the lifetimes [s] that they are of; None is storage by the hour."""

    database: str
    ttls: tuple[int | None, ...]


@immutable(kw_only=False)
class SharedTariff:
    """Models of one vendor whose caches are sold by one tariff: the same write premiums by lifetime, the same storage price."""

    provider: str
    models: tuple[str, ...]


@immutable
class TierEvidence:
    """Where a lifetime, or a storage price without one (None), points, or None where there is no evidence.

    `cases` are the cost bases and years of hardware prices, `undisclosed` the one posterior of all of them, `rented` and
    `owned` those of each basis. `probabilities` is the headline: `undisclosed`, unless the vendor said where. `ranges` are
    the least and the most of each tier over the cases, and `agreed` the fewest tiers that hold the level of the run in every
    case; both of the headline, and of prices alone. `likely` is whether one tier is so in each of them.
    `sole_source` is there where one database decides what the prices say.
    `lecture` and `devices` are panels beside the headline, the drain-time rule on the lecture's own drain times and on those
    of devices; neither enters it. `anchors` are the outside facts that what the prices say rests on.
    """

    ttl_seconds: int | None
    rented: Mapping[str, float] | None
    owned: Mapping[str, float] | None
    evidence: tuple[str, ...]
    implied_drain_time: float | None
    lecture: Mapping[str, float] | None
    devices: Mapping[str, float] | None
    disclosed: str | None
    undisclosed: Mapping[str, float] | None
    probabilities: Mapping[str, float] | None
    cases: tuple[PricedCase, ...]
    ranges: Mapping[str, tuple[float, float]] | None
    agreed: tuple[str, ...]
    undisclosed_ranges: Mapping[str, tuple[float, float]] | None
    undisclosed_agreed: tuple[str, ...]
    likely: bool = False
    anchors: tuple[str, ...] = ()
    sole_source: SoleSource | None = None

    @property
    def agreed_share(self) -> float | None:
        """The probability of the tiers that are agreed, together, or None where there is no evidence."""
        return _share_of(self.agreed, self.probabilities)

    @property
    def undisclosed_agreed_share(self) -> float | None:
        """The same by prices alone."""
        return _share_of(self.undisclosed_agreed, self.undisclosed)


def _share_of(tiers: Sequence[str], probabilities: Mapping[str, float] | None) -> float | None:
    return None if probabilities is None else sum(probabilities[tier] for tier in tiers)


@immutable
class NegativeControl:
    """One storage price on several models of known architecture, and the KV bytes they store [byte/token]."""

    provider: str
    amount: float
    currency: str
    storage_price: float
    models: tuple[str, ...]
    kv_low: float
    kv_high: float

    @property
    def ratio(self) -> float:
        """How many times the KV bytes differ while the price does not."""
        return self.kv_high / self.kv_low


@immutable
class RuleScore:
    """How a rule does on the disclosed cases: mean ln P(disclosed), how many it names, on how many of how many vendors it speaks."""

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
class TimesReading:
    """How many times the KV bytes of a reading of the first pair of bands those are that decode reads by the architecture.

    `joint` is None where no KV bytes fit all prices together.
    """

    lecture: float
    joint: float | None


@immutable
class Apart:
    """How far the medians lie apart that an output premium gives: the greatest over the least."""

    factor: float

    @property
    def nats(self) -> float:
        """The same as a difference of logarithms."""
        return log(self.factor)


@immutable
class Held:
    """How many of so many a range of this level held, and between which shares that puts how often it does (90 %)."""

    level: float
    held: int
    count: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """Held over all."""
        return self.held / self.count


@immutable
class Record:
    """What a way to foretell has got right against the class, over rows whose groups it had not seen; `of` is what kind of rows.

    `rms` [nat]; `gain` is that of the mean log density [nat] over the class, with its standard error over groups and the
    interval [5 %, 95 %] of groups drawn again.
    """

    count: int
    groups: int
    rms: float
    rms_of_class: float
    gain: float
    standard_error: float
    interval: tuple[float, float]
    held: tuple[Held, ...]
    of: str = "open models"

    def at(self, level: float) -> Held | None:
        """How many ranges of this level held, or None where only those of others were counted."""
        return next((one for one in self.held if isclose(one.level, level)), None)

    def has_skill(self, errors: float = USUAL.least_gain_in_errors) -> bool:
        """Whether it knows more than the class by more than so many standard errors."""
        return self.gain > errors * self.standard_error


@immutable
class Vote:
    """What one family says of the caches of a time: mean day of release and mean KV bytes [byte/token] of its models, and its weight."""

    family: str
    released: date
    kv_bytes: float
    weight: float


@immutable
class Votes:
    """The families that an estimate is told by, the heaviest first. They count for as much as `effective` ones of equal weight."""

    effective: float
    cast: tuple[Vote, ...]


@immutable
class Bounds:
    """How far above the true cache bounds lay, as factors, on `count` sheets of models whose cache is known, and how many held it.

    `held_at_one_byte` is how many would have, had a value of the cache been kept in one byte, and not in bf16.
    """

    count: int
    held: int
    held_at_one_byte: int
    least: float
    median: float
    most: float


@immutable
class Verdict:
    """What a price observable has earned: log densities are means over families, gains are those over the class.

    `weight` is the pool's over all families, zero where the pool has gained no more than `least_gain` standard errors.
    """

    count: int
    families: int
    by_class: float
    by_price: float
    gain_of_pool: float
    standard_error: float
    stacked: float
    least_gain: float = USUAL.least_gain_in_errors

    @property
    def gain_of_price(self) -> float:
        """What the price alone knows more than the class."""
        return self.by_price - self.by_class

    @property
    def enters(self) -> bool:
        """Whether it enters a headline."""
        return self.gain_of_pool > self.least_gain * self.standard_error

    @property
    def weight(self) -> float:
        """Its weight in a headline."""
        return self.stacked if self.enters else 0.0


@immutable
class Estimate:
    """An interval, an upper or a lower bound at `level`, a point, a number given from outside, or undetermined, in SI units.

    `contraction` is 1 less the ratio of posterior to prior variance (of logarithms): 0 where the sheet taught nothing, and where it
    is small the estimate is dominated by the prior.
    `anchors` are the outside facts it rests on: another value of one of them moves its numbers, or can turn its kind where it has
    none or is a bound that prices alone set; any other fact leaves it alone. `record` is what estimates like it have got right,
    `bounds` what bounds like it have; what has neither is printed at no `level`. `votes` are the families that a class of a time is of.

    >>> print(Estimate(kind="interval", median=154712.0, low=42193.0, high=546700.0))
    150000 (42000-550000) at 90 %
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
    votes: Votes | None = None

    @property
    def kept(self) -> tuple[int, int] | None:
        """How many of so many ranges of its level, or bounds, like it held, or None where nothing like it was held against what is true."""
        if self.bounds:
            return self.bounds.held, self.bounds.count
        held = self.record.at(self.level) if self.record and self.level else None
        return (held.held, held.count) if held else None

    def __str__(self) -> str:
        """Its text in the SI unit of what it is of, and how many ranges like it were right.

        >>> str(Estimate(kind="upper", high=2e3)), str(Estimate(kind="lower", low=3e-8))
        ('< 2000 at 90 %', '> 0.00000003 at 90 %')
        """
        if self.kind == "undetermined":
            return cut(f"{self.kind}: {self.because}" if self.because else self.kind)
        ranged = self.kind in ("interval", "upper", "lower") and self.level
        right = ", right for {} of {}".format(*self.kept) if ranged and self.kept else ""
        return estimate_text("", self) + (f" at {100 * (self.level or 0):.0f} %" if ranged else "") + right


def as_claimed(estimate: Estimate) -> Estimate:
    """The estimate at its level where ranges or bounds like it were held against what is true; else a range of what is assumed, at none.

    >>> print(as_claimed(Estimate(kind="interval", median=2.0, low=1.0, high=4.0)))
    2 (1-4)
    """
    return estimate if estimate.kept or estimate.level is None else replace(estimate, level=None)


def or_undetermined(estimate: Callable[[_T, Data, Assumptions], Estimate]) -> Callable[[_T, Data, Assumptions], Estimate]:
    """The estimate, or none with the reason where a table that it rests on cannot be used."""

    @wraps(estimate)
    def found(case: _T, data: Data, assumptions: Assumptions) -> Estimate:
        try:
            return estimate(case, data, assumptions)
        except WrongData as error:
            return undetermined(assumptions, str(error))

    return found


def interval(
    assumptions: Assumptions, low: float, median: float, high: float, because: str, *, equations: tuple[str, ...],
    contraction: float | None = None, anchors: tuple[str, ...] = (),
) -> Estimate:  # fmt: skip
    """A central interval with its median."""
    return _of_level("interval", (median, low, high), assumptions, because, equations, contraction, anchors)


def upper(
    assumptions: Assumptions, high: float, because: str, *, equations: tuple[str, ...] = (), contraction: float | None = None,
    anchors: tuple[str, ...] = (),
) -> Estimate:  # fmt: skip
    """A bound from above."""
    return _of_level("upper", (None, None, high), assumptions, because, equations, contraction, anchors)


def lower(
    assumptions: Assumptions, low: float, because: str, *, equations: tuple[str, ...] = (), contraction: float | None = None,
    anchors: tuple[str, ...] = (),
) -> Estimate:  # fmt: skip
    """A bound from below."""
    return _of_level("lower", (None, low, None), assumptions, because, equations, contraction, anchors)


def _of_level(
    kind: str, ends: tuple[float | None, float | None, float | None], assumptions: Assumptions, because: str,
    equations: tuple[str, ...], contraction: float | None, anchors: tuple[str, ...],
) -> Estimate:  # fmt: skip
    """A range or a bound, of the level of a run; `ends` are its median, its least and its most."""
    median, low, high = ends
    return Estimate(
        kind=kind,
        median=median,
        low=low,
        high=high,
        level=assumptions.level,
        because=because,
        equations=equations,
        contraction=contraction,
        anchors=anchors,
        prior_dominated=dominated(contraction, assumptions),
    )


def point_estimate(
    assumptions: Assumptions, value: float, because: str, *, equations: tuple[str, ...], anchors: tuple[str, ...] = ()
) -> Estimate:
    """A number without a range: what a reading gives at the anchors as they stand."""
    return Estimate(kind="point", median=value, level=assumptions.level, because=because, equations=equations, anchors=anchors)


def undetermined(assumptions: Assumptions, because: str, *, equations: tuple[str, ...] = (), anchors: tuple[str, ...] = ()) -> Estimate:
    """No estimate, and why."""
    return Estimate(kind="undetermined", level=assumptions.level, because=because, equations=equations, anchors=anchors)


def given_value(assumptions: Assumptions, value: float, anchor: str) -> Estimate:
    """An outside fact in the place of an estimate: no price moves it."""
    return Estimate(
        kind="given", median=value, low=value, high=value, level=assumptions.level, because="given, not estimated", anchors=(anchor,)
    )


def dominated(contraction: float | None, assumptions: Assumptions) -> bool:
    """Whether the prior says more than the sheet."""
    return contraction is not None and contraction < assumptions.prior_dominated_below


def references(*ids: str) -> tuple[str, ...]:
    """Equations as id@version.

    >>> references("bands.price")
    ('bands.price@1',)
    """
    return tuple(equation(id).reference for id in ids)


@immutable
class Part(Generic[_T]):
    """A part of a result; or None, and which row of the tables it rests on cannot be used: "" where there was nothing to find."""

    value: _T | None = None
    left_out: str = ""


@immutable
class Identifiability:
    """What the prices of one sheet pin at one point.

    `missing_facts` has the fewest outside facts that pin each target, or None where all allowed ones do not;
    `degenerate_with` names what then moves along with the target, every price and fact unchanged ("": it moves alone).
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
        """How many hidden quantities there are: combinations that prices pin, and those that stay free."""
        return self.rank + self.nullity

    def verdict(self, target: str) -> str:
        """In a line: pinned, what it needs, or what it is degenerate with."""
        facts = self.missing_facts[target]
        if facts is None:
            other = self.degenerate_with[target]
            return f"not identified: {f'degenerate with {other}' if other else 'the prices leave it free'}"
        return "needs " + ", ".join(facts) if facts else "pinned by the prices"


@immutable
class Contraction:
    """Spread of the log of a quantity [nat] before and after the prices are seen, and 1 less the ratio of the variances."""

    prior_spread: float
    spread: float
    contraction: float
    prior_dominated: bool


@immutable(kw_only=False)
class Swing:
    """KV bytes over their central value with one input at either end of its range, or None where prices then contradict the model."""

    name: str
    low: float | None
    high: float | None

    @property
    def width(self) -> float:
        """Of the swing, for the order of a tornado. An end that contradicts the model is the widest."""
        return abs(log(self.high / self.low)) if self.low and self.high and min(self.low, self.high) > 0 else inf


@immutable
class Premiums:
    """What a vendor asks over the first threshold of a sheet, in multiples of the price below it."""

    provider: str
    premium_in: float
    premium_out: float


@immutable
class Convention:
    """How likely premiums in these cells are as a cost, how likely as a habit of vendors, and the Bayes factor for the habit.

    `same` of `others` vendors ask premiums in the cells. Where none does there is no habit to speak of, and no factor.
    """

    premium_in: Observable
    premium_out: Observable
    probability_by_cost: float
    probability_by_habit: float
    same: int
    others: int

    @property
    def bayes_factor(self) -> float | None:
        """Of habit against cost. A floor where the probability by cost is less than a float can say."""
        return self.probability_by_habit / max(self.probability_by_cost, float_info.min) if self.same else None


@immutable
class Misreading:
    """What an estimator makes of models whose cache is known: ln of its median over the cache, mean (`bias`) and sd [nat].

    Of `models`, `medians` have one; bias and sd are None of fewer than two.
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
class Worth:
    """What the estimates of a sheet are worth, judged without its own model and those that share its cache (`left_out`).

    `models` are those with a cache that is known and a sheet of several bands; `misreadings` and `records` are by estimator,
    `beside` are records by what else is estimated and an architecture says.
    """

    models: tuple[str, ...]
    left_out: tuple[str, ...]
    misreadings: Mapping[str, Misreading]
    records: Mapping[str, Record]
    beside: Mapping[str, Record]


@immutable(kw_only=False)
class PricingRules:
    """KV bytes by each pricing rule, for a base band bound by compute. One bound by memory multiplies all but the last."""

    solutions: Mapping[str, Solution]
    memory_bound_base_cost: float


@immutable(kw_only=False)
class TierRules:
    """The equation and the kind of the lecture's rule for tiers, and how every rule does where vendors disclosed the tier."""

    equation: str
    kind: str
    scores: tuple[RuleScore, ...]


# Of all sheets together.


@immutable
class Span:
    """Some numbers by their least, median and greatest."""

    low: float
    median: float
    high: float


@immutable
class Counted:
    """How many of so many held what is true."""

    held: int
    count: int


@immutable
class HeldHere:
    """What the sheets of a run make of those caches among them that are known.

    Of `sheets` with several bands, `unsure` are known by the model's name alone; `times_lecture` is how many times the lecture's
    reading their true cache is. `ranges` and `bounds` are by estimator, of sheets with one band too.
    """

    sheets: int
    unsure: int
    times_lecture: Span | None
    ranges: Mapping[str, Counted]
    bounds: Mapping[str, Counted]


@immutable
class AlsoSold:
    """The same model in another service tier or region: its first input price [USD/token], and how many times that of the sheet."""

    service_tier: str
    region: str
    input_price: float
    times: float


@immutable
class FastMode:
    """A fast mode beside the standard sheet: price ratio, speed ratio as stated, and what follows if price follows cost.

    `batch_ratio` is the standard batch over that of the fast mode, `slow_mode_floor` the least that a slow mode could cost over the
    standard price. Without a stated speed there is neither.
    """

    price_ratio: float
    speed_ratio: float | None = None
    speed_source: str = ""
    batch_ratio: float | None = None
    slow_mode_floor: float | None = None


@immutable
class Outcome:
    """How many offers have an estimate of each kind, and why how many have no range."""

    quantity: str
    estimator: str
    kinds: Mapping[str, int]
    because: Mapping[str, int]


@immutable
class Carried:
    """A ratio of prices that offers carry: how many of them, of how many providers, and the value that most of them have.

    `of` is the lifetime [s] of a cache write, or the service tier that is sold beside.
    """

    observable: str
    of: str
    offers: int
    providers: int
    commonest: float
    at_commonest: int
    span: Span


@immutable
class SharedPremiums:
    """Premiums over the first threshold that offers share, and by threshold [token] how many do."""

    premium_in: float
    premium_out: float
    offers: int
    providers: int
    thresholds: Mapping[int, int]


@immutable
class ProviderSizes:
    """The active parameters of what one provider sells: of how many offers they are stated or follow from the price, and these medians.

    `makes` is whether most of them are of its own models.
    """

    provider: str
    makes: bool
    offers: int
    sized: int
    span: Span | None


@immutable
class Overview:
    """The sheets of one run together.

    A sheet that asks to the cent what another provider, or the same one under a second name, asks for the same model in the same
    service tier is a copy of it; offers are the sheets without these, and all that follows counts offers. `copies` are by provider.
    `no_result` says why how many sheets could not be read, `not_picked` how many were read and are not what is wanted of them,
    `beside` how many more hold on that day, by service tier, and `of_other_days` how many on other days alone; `release_unknown`
    are sheets whose KV is the class of the day of their price, as no table has the release of their model. `premiums` begin with
    those that most offers share, `sizes` with makers, the one of most offers first.
    """

    as_of: date
    sheets: int
    providers: int
    no_result: Mapping[str, int]
    not_picked: int
    beside: Mapping[str, int]
    of_other_days: int
    release_unknown: int
    copies: Mapping[str, int]
    offers: int
    outcomes: tuple[Outcome, ...]
    carried: tuple[Carried, ...]
    premiums: tuple[SharedPremiums, ...]
    sizes: tuple[ProviderSizes, ...]


# Of figures: curves that no table prints.


@immutable
class SizedModel:
    """An open model at the list price [USD/token] of its maker, and its active parameters."""

    model: str
    input_price: float
    active_params: float


@immutable
class SizeLine:
    """The panel that sizes are learnt from, and what a price [USD/token] leaves possible: (low, median, high) at `level`."""

    models: tuple[SizedModel, ...]
    prices: tuple[float, ...]
    sizes: tuple[tuple[float, float, float], ...]
    level: float
    record: Record


@immutable
class Judgement:
    """What was made of a model whose truth is known: a range at `level` about a median, by a way that had not seen it."""

    model: str
    by: str
    truth: float
    low: float
    median: float
    high: float
    level: float

    @property
    def held(self) -> bool:
        """Whether the truth lies in the range."""
        return self.low <= self.truth <= self.high

    @property
    def over_truth(self) -> tuple[float, float, float]:
        """Low, median and high over what is true."""
        return self.low / self.truth, self.median / self.truth, self.high / self.truth


@immutable
class PricesByContext:
    """What input and output would cost [USD/token] at every context [token] if the joint reading of the first pair were true.

    They are drawn from `first` to `last`, where the last band ends. Without a joint reading there are none, and `problem` says why.
    """

    contexts: tuple[float, ...]
    inputs: tuple[float, ...]
    outputs: tuple[float, ...]
    first: float
    last: float
    problem: str


@immutable
class HoldCosts:
    """What it costs [USD/token] to keep a token of `kv_bytes` for a time [s] and read it once, by tier and cost basis."""

    kv_bytes: float
    year: int
    times: tuple[float, ...]
    costs: Mapping[tuple[str, str], tuple[float, ...]]
