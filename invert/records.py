"""The records of the price side: sheets as published, what is observed on them, and what they imply."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import wraps
from typing import TypeVar

from derive.briefly import brief
from derive.catalogue import equation
from derive.errors import WrongData
from derive.show.tables import text_of
from derive.solving.result import Solution
from invert.assumptions import USUAL, Assumptions


@dataclass(frozen=True, slots=True)
class Price:
    """One price: `amount` in `currency` as published, `usd_per_token` in SI (USD/token, or USD/token/s for per=mtok_hour)."""

    __repr__ = brief

    amount: float
    currency: str
    per: str
    usd_per_token: float
    verification: str
    source_url: str
    notes: str
    origin: str


@dataclass(frozen=True, slots=True)
class PriceBand:
    """What a whole request pays per token once its prompt is longer than the threshold (at or above it, if inclusive)."""

    __repr__ = brief

    threshold_tokens: int
    threshold_inclusive: bool
    input: Price
    output: Price
    cache_read: Price | None


@dataclass(frozen=True, slots=True)
class CacheOffer:
    """Cache writes of one lifetime, or cache storage: prices as published, by the threshold of their band."""

    __repr__ = brief

    component: str
    ttl_seconds: int | None
    prices: tuple[tuple[int, Price], ...]


@dataclass(frozen=True, slots=True)
class PriceSheet:
    """The prices of (provider, model, region, service tier) on one day; bands ascend from threshold 0, writes by lifetime.

    `utc_hours` and `weekdays` (1 is Monday) are when a peak price holds: blank for any; which tier is meant, whoever asks says.
    `start_known` is false where a price is taken for a day before it was read, and nobody noted when it began.
    """

    __repr__ = brief

    provider: str
    model: str
    region: str
    service_tier: str
    as_of: date
    bands: tuple[PriceBand, ...]
    writes: tuple[CacheOffer, ...]
    storage: CacheOffer | None
    utc_hours: str
    start_known: bool = True
    weekdays: str = ""


@dataclass(frozen=True, slots=True)
class Observable:
    """A number read off a sheet, with the cell [low, high] of values that would have been published as the same number."""

    __repr__ = brief

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class BandPair:
    """Two adjacent bands: the threshold between them, their mean contexts [token] and the ratios of their prices."""

    __repr__ = brief

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


@dataclass(frozen=True, slots=True)
class Observables:
    """All ratios of a sheet; write premiums by lifetime [s], the storage price in USD/token/s."""

    __repr__ = brief

    output_input_ratio: Observable
    pairs: tuple[BandPair, ...]
    contexts: tuple[float, ...]
    cache_read_ratio: Observable | None
    cache_write_premiums: tuple[tuple[int | None, float], ...]
    storage_price: Observable | None


@dataclass(frozen=True, slots=True)
class Anchors:
    """The outside facts every reading of one output is made with, and where each comes from."""

    __repr__ = brief

    values: Mapping[str, float]
    origin: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of one band pair: every quantity it gives, the solution it rests on, or why it gives none."""

    __repr__ = brief

    name: str
    values: Mapping[str, float]
    solution: Solution | None
    problem: str | None = None


def unanswered(name: str, solution: Solution) -> Reading:
    """A reading that gives no single number: the reason, or the bounds that are all there is."""
    found = " or ".join(text_of(solution.unknown, answer) for answer in solution.answers)
    why = solution.reason.message if solution.reason else f"{solution.unknown} is not identified, only bounds are: {found}"
    return Reading(name, {}, solution, why)


@dataclass(frozen=True, slots=True)
class Check:
    """One component of the sheet against what a reading predicts; a bound is met when predicted <= published."""

    __repr__ = brief

    component: str
    published: float
    predicted: float
    used_by_reading: bool
    inside_rounding_cell: bool
    bound: bool = False


@dataclass(frozen=True, slots=True)
class TierReading:
    """The storage tier a lifetime points to, by the lecture's drain times and by those of real devices."""

    __repr__ = brief

    ttl_seconds: int
    lecture: str
    devices: str
    disclosed: str | None


@dataclass(frozen=True, slots=True)
class KnownCache:
    """KV bytes per token of a model of known architecture, stored and read, in bf16 [byte/token]."""

    __repr__ = brief

    architecture: str
    grade: str
    stored: float
    read: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """An interval, an upper or a lower bound at `level`, a point, a number given from outside, or undetermined, in SI units.

    `contraction` is 1 less the ratio of posterior to prior variance (of logarithms): 0 where the sheet taught nothing, and where it
    is small the estimate is dominated by the prior.
    `anchors` are the outside facts it rests on: another value of one of them moves its numbers, or can turn its kind where it has
    none or is a bound that prices alone set; any other fact leaves it alone.
    """

    __repr__ = brief

    kind: str
    median: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = USUAL.level
    because: str = ""
    equations: tuple[str, ...] = ()
    contraction: float | None = None
    anchors: tuple[str, ...] = ()
    prior_dominated: bool = False


T = TypeVar("T")


def or_undetermined(estimate: Callable[[T, Assumptions], Estimate]) -> Callable[[T, Assumptions], Estimate]:
    """The estimate, or none with the reason where a table that it rests on cannot be used."""

    @wraps(estimate)
    def found(case: T, assumptions: Assumptions) -> Estimate:
        try:
            return estimate(case, assumptions)
        except WrongData as error:
            return undetermined(assumptions, str(error))

    return found


def interval(
    assumptions: Assumptions, low: float, median: float, high: float, because: str, *, equations: tuple[str, ...],
    contraction: float | None = None, anchors: tuple[str, ...] = (),
) -> Estimate:  # fmt: skip
    """A central interval with its median."""
    return Estimate(
        "interval", median, low, high, assumptions.level, because, equations, contraction, anchors, dominated(contraction, assumptions)
    )


def upper(
    assumptions: Assumptions, high: float, because: str, *, equations: tuple[str, ...] = (), contraction: float | None = None,
    anchors: tuple[str, ...] = (),
) -> Estimate:  # fmt: skip
    """A bound from above."""
    by_prior = dominated(contraction, assumptions)
    return Estimate("upper", None, None, high, assumptions.level, because, equations, contraction, anchors, by_prior)


def lower(
    assumptions: Assumptions, low: float, because: str, *, equations: tuple[str, ...] = (), contraction: float | None = None,
    anchors: tuple[str, ...] = (),
) -> Estimate:  # fmt: skip
    """A bound from below."""
    by_prior = dominated(contraction, assumptions)
    return Estimate("lower", None, low, None, assumptions.level, because, equations, contraction, anchors, by_prior)


def point(assumptions: Assumptions, value: float, because: str, *, equations: tuple[str, ...], anchors: tuple[str, ...] = ()) -> Estimate:
    """A number without a range: what a reading gives at the anchors as they stand."""
    return Estimate("point", value, level=assumptions.level, because=because, equations=equations, anchors=anchors)


def undetermined(assumptions: Assumptions, because: str, *, equations: tuple[str, ...] = (), anchors: tuple[str, ...] = ()) -> Estimate:
    """No estimate, and why."""
    return Estimate("undetermined", level=assumptions.level, because=because, equations=equations, anchors=anchors)


def given_value(assumptions: Assumptions, value: float, anchor: str) -> Estimate:
    """An outside fact in the place of an estimate: no price moves it."""
    return Estimate("given", value, value, value, assumptions.level, "given, not estimated", anchors=(anchor,))


def dominated(contraction: float | None, assumptions: Assumptions) -> bool:
    """Whether the prior says more than the sheet."""
    return contraction is not None and contraction < assumptions.prior_dominated_below


def references(*ids: str) -> tuple[str, ...]:
    """Equations as id@version.

    >>> references("bands.price")
    ('bands.price@1',)
    """
    return tuple(equation(id).reference for id in ids)
