"""The records of an answer to a question: Answer, Reason, RouteStep, Sweep, Spans and the Result that collects them. Also the
spreads of an input: a range, a list, or a sweep.
"""

from collections import UserDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from math import ceil, floor, isnan, log10
from typing import TYPE_CHECKING, TypeVar

from derive.errors import NoSingleValue
from derive.immutable import cut, immutable
from derive.quantities import QUANTITIES
from derive.quantities.formula import as_expression, formula_in_latex, symbolic_in_latex
from derive.records import HOLDS, LOWER, UPPER

if TYPE_CHECKING:
    import numpy as np
    from sympy import Basic, Expr


BOUGHT = ("chips", "replicas", "fleet_chips", "training_chips", "data_parallel", "pipeline_stages")
COUNTED = (*BOUGHT, "batch", "sequences_in_flight", "concurrent_sequences", "microbatches", "training_microbatches", "prefill_passes")
"""Quantities that are bought in whole numbers, and all quantities that are whole numbers."""
KEPT_FREE = 0.1
"""Share of the memory that engines reserve for activations and buffers: vLLM uses 0.9 of it."""
_BUDGETS, _OF_ALL = ("USD", "J/s"), "fleet_chips"
"""Units and quantities that limit a number from above: money, power, and the chips of all replicas."""
POINTS = 25
"""Default number of points of a sweep."""
OR = {LOWER: " or more", UPPER: " or less", None: ""}
"""A bound in words, after its value."""
SHORT = "does not fit"
"""The beginning of a warning about memory."""
LIMITS_BIND = "limits bind: "
"""The beginning of the regime if limits and not memory determine the number of chips. The names of the limits follow."""
MEMORY_FITS = ("memory.sequences_that_fit@", "memory.fits@")
"""The beginning of references to equations in which only memory limits an answer."""
BY_DEFAULT = " (default)"
"""The end of an assumption that only states the neutral value of a quantity."""

_Value = TypeVar("_Value")


@immutable(kw_only=False)
class Interval:
    """A range of values [SI]."""

    low: float
    high: float

    @property
    def shown(self) -> float:
        """Return the middle of the range, which is used for the first answer."""
        return (self.low + self.high) / 2

    @property
    def ends(self) -> tuple[float, float]:
        """Return the least and the greatest value."""
        return self.low, self.high


@immutable
class Series:
    """A list of values [SI], or a sweep with even steps or even ratios between two ends."""

    values: "tuple[float, ...] | np.ndarray" = ()
    low: float = 0.0
    high: float = 0.0
    count: int = 0
    spacing: str = ""

    def __len__(self) -> int:
        return self.count or len(self.values)

    @property
    def shown(self) -> float:
        """Return the first value that is not 0, which is used for the first answer."""
        return (self.low or self.high) if self.count else float(next(filter(None, self.values), 0.0))

    def array(self) -> "np.ndarray":
        """Return all values.

        >>> Series(low=1, high=4096, count=5, spacing="log").array().tolist()
        [1.0, 8.0, 64.0, 512.0, 4096.0]
        """
        import numpy as np

        if not self.count:
            return np.array(self.values)
        evenly = np.geomspace if self.spacing == "log" else np.linspace
        values = evenly(self.low, self.high, self.count)
        # Rounded to 12 digits of the smallest, so that a sweep by powers of two contains 8 and not 7.999999999999999.
        return np.round(values, 11 - floor(log10(abs(self.low or self.high))), out=values)


Spread = Interval | Series


def next_whole(value: float, side: str | None) -> float:
    """Return the next whole number above a lower bound or below an upper bound. Return the value itself if it is neither.

    >>> next_whole(5.306, LOWER), next_whole(5.306, UPPER), next_whole(5.306, None)
    (6.0, 5.0, 5.306)
    """
    if side is None:
        return value
    return float(ceil(value * (1 - HOLDS)) if side == LOWER else floor(value * (1 + HOLDS)))


class WhenRead(UserDict[str, _Value]):
    """A mapping that is computed at the first read, because elasticities need more time than the answer itself.

    >>> WhenRead(lambda: {"batch": 1.0})["batch"]
    1.0
    """

    def __init__(self, work_out: Callable[[], Mapping[str, _Value]]):
        self._work_out = work_out

    @cached_property
    def data(self) -> Mapping[str, _Value]:  # type: ignore[override]  # nobody changes it
        """Return the computed values."""
        return self._work_out()

    def __reduce__(self) -> tuple[type, tuple[dict[str, _Value]]]:
        return dict, (dict(self.data),)


@immutable
class Answer:
    """A point, or an interval with one or two known ends (`low`, `high`). None means unbounded.

    For bounds over ranges, `low` and `high` enclose the values that are possible at all points of the ranges. `loose_low` and `loose_high`
    enclose the values that are possible at one or more points. The kind "loose" has only the loose ends, because no value is possible at
    all points. `elasticities` are d ln(unknown)/d ln(given) at the point or at the finite end of the interval (the upper one of two).
    `bound` marks a point, or the values of all ranges and sweeps, as at least this value ("lower") or at most this value ("upper"). The
    kind "symbolic" has a formula as its answer: an expression of the given symbols.

    >>> Answer(kind="point", value=2400.0, bound="lower")
    Answer(point: 2400 or more)
    """

    kind: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    regime: str | None = None
    formula: str | None = None
    elasticities: Mapping[str, float] = field(default_factory=dict)
    residual: float | None = None
    loose_low: float | None = None
    loose_high: float | None = None
    bound: str | None = None
    symbolic: "Expr | None" = None

    def __repr__(self) -> str:
        return cut(f"{type(self).__name__}({self.kind}: {self}{f', where {self.regime}' if self.regime else ''})")

    def __str__(self) -> str:
        return f"{self._short_text()}{OR[self.bound]}"

    def _short_text(self) -> str:
        if self.kind == "symbolic":
            return str(self.formula)
        if self.value is not None:
            return f"{self.value:.6g}"
        ends = (self.low, self.high) if self.loose_low is None else (self.loose_low, self.loose_high)
        return " to ".join("unbounded" if end is None else f"{end:.6g}" for end in ends)

    @property
    def point(self) -> float:
        """Return the value of a point. Raise `NoSingleValue` for any other answer."""
        if self.value is None:
            raise NoSingleValue(f"an answer of the kind {self.kind} has no single value")
        return self.value

    @property
    def least(self) -> float:
        """Return the lower end of an interval, or 0 if it is unbounded below."""
        return self.low or 0.0

    @property
    def ends(self) -> tuple[float, float | None]:
        """Return the least and the greatest value that the answer allows at any point.

        >>> Answer(kind="point", value=3.0).ends, Answer(kind="interval", low=2.0).ends
        ((3.0, 3.0), (2.0, None))
        """
        if self.kind == "point":
            return self.point, self.point
        return (self.least, self.high) if self.loose_low is None else (self.loose_low, self.loose_high)

    @property
    def whole_ones(self) -> float | None:
        """Return the point as a whole number: rounded up, or down if money, power or chips limit it. Return None without a point.

        >>> Answer(kind="point", value=55.6).whole_ones, Answer(kind="point", value=55.6, elasticities={"fleet_cost": 1.0}).whole_ones
        (56.0, 55.0)
        """
        if self.value is None:
            return None
        paid = any(by > 0 and (name == _OF_ALL or QUANTITIES[name].unit in _BUDGETS) for name, by in self.elasticities.items())
        return next_whole(self.value, UPPER if paid else LOWER)

    @property
    def expr(self) -> "Basic | None":
        """Return the formula in SymPy, over the symbols of the registry, or None if the answer has no closed form."""
        if self.symbolic is not None or self.formula is None:
            return self.symbolic
        return as_expression(self.formula)

    @property
    def latex(self) -> str | None:
        """Return the formula as LaTeX, in the symbols of the lecture."""
        if self.symbolic is not None:
            return symbolic_in_latex(self.symbolic)
        return None if self.formula is None else formula_in_latex(self.formula)


def bound_side(answer: Answer) -> str:
    """Return whether an interval has one end, and whether this is a lower or an upper bound."""
    return LOWER if answer.high is None else UPPER


def shown_end(answer: Answer) -> float | None:
    """Return the value at which a route is shown: the point, or the finite end of an interval (the upper one of two), or None.

    >>> ends = (0.0, 8.0), (2.0, None), (0.0, None)
    >>> [shown_end(Answer(kind="interval", low=low, high=high)) for low, high in ends]
    [8.0, 2.0, None]
    """
    least, most = answer.ends
    return least or None if most is None else most


def _looked_up_missing(reason: "Reason") -> tuple[str, ...]:
    """Return the quantities that a reason says are missing. The schemas read this type and the next one."""
    return reason.looked_up[0]


def _looked_up_message(reason: "Reason") -> str:
    return reason.looked_up[1]


@immutable
class Reason:
    """The reason why there is no answer: a code for programs, the missing quantities, and the violated inequalities.

    `two_values` is a quantity with different values on two routes. Where it is slow to find what is missing and the message, `look_up`
    returns both. It is called at the first read, because most reasons are never read.

    >>> Reason(code="no_solution", look_up=lambda: ((), "no batch leads to it")).message
    'no batch leads to it'
    """

    code: str
    missing: tuple[str, ...] = cached_property(_looked_up_missing)  # type: ignore[assignment]
    violated: tuple[str, ...] = ()
    message: str = cached_property(_looked_up_message)  # type: ignore[assignment]
    two_values: str = ""
    look_up: Callable[[], tuple[tuple[str, ...], str]] | None = field(default=None, compare=False, repr=False)

    @cached_property
    def looked_up(self) -> tuple[tuple[str, ...], str]:
        """Return what is missing and the message, if they were not given."""
        return self.look_up() if self.look_up else ((), "")

    def reword(self, change: Callable[[str], str]) -> "Reason":
        """Return the same reason with a message that is made of this one when it is read.

        >>> Reason(code="no_solution", message="no batch leads to it").reword("at 8 chips: {}".format).message
        'at 8 chips: no batch leads to it'
        """
        return Reason(
            code=self.code, violated=self.violated, two_values=self.two_values, look_up=lambda: (self.missing, change(self.message))
        )

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "missing": self.missing, "message": self.message, "look_up": None}


@immutable
class RouteStep:
    """One step of a route: the equation or equations solved together, and the value they gave.

    `forwards` is the result that gave the value, if the step was found by following that result at many values of the quantity.
    """

    equations: tuple[str, ...]
    unknown: str
    value: float | None
    formula: str | None = None
    alternatives: tuple[str, ...] = ()
    forwards: str | None = None

    @property
    def equation(self) -> str:
        """Return its equations in one line."""
        return ", ".join(self.equations)


@immutable
class Sweep:
    """The answers to a question at many points, as columns: the givens, and the points of each answer.

    `values` and `places` have a row for every answer at one point and a column for every point. NaN means no answer. `labels[place]` is the
    regime and `bounds[place]` the bound. `others` has the answers of the points without a number: intervals, or a reason. `beside` has
    columns of numbers of the same unit: the answer with prompts, and the chips to deploy.
    """

    given: "Mapping[str, np.ndarray]"
    values: "np.ndarray"
    places: "np.ndarray"
    labels: tuple[str | None, ...]
    bounds: tuple[str | None, ...]
    others: "Mapping[int, tuple[tuple[Answer, ...], Reason | None]]" = field(default_factory=dict)
    beside: "Mapping[str, np.ndarray]" = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.values.shape[1])

    def rows(self) -> "Iterator[tuple[dict[str, float], tuple[Answer, ...], Reason | None]]":
        """Yield the givens, the answers and the reason of every point."""
        columns = (zip(*(column.tolist() for column in each), strict=True) for each in (self.given.values(), self.values, self.places))
        for at, (given, values, places) in enumerate(zip(*columns, strict=True)):
            answers, reason = self.others.get(at, ((), None))
            known = [(value, place) for value, place in zip(values, places, strict=True) if not isnan(value)]
            points = tuple(Answer(kind="point", value=value, regime=self.labels[at], bound=self.bounds[at]) for value, at in known)
            yield dict(zip(self.given, given, strict=True)), points or answers, reason

    def beside_at(self, place: int) -> dict[str, float | None]:
        """Return the numbers beside the answer of a point, None for one that is not known."""
        return {name: None if isnan(column[place]) else float(column[place]) for name, column in self.beside.items()}

    @property
    def bound(self) -> str | None:
        """Return the bound that all its answers have, lower or upper, or None if they differ."""
        import numpy as np

        known = ~np.isnan(self.values)
        points = (bound for place, bound in enumerate(self.bounds) if ((self.places == place) & known).any())
        return same_bound((*points, *(one.bound for answers, _ in self.others.values() for one in answers)))


@immutable
class Spans:
    """The range of an answer over all values of the givens with a range.

    `method` is "bounds" if the answer is monotonic in each range, because its ends are then at corners. Otherwise it is "sampled", and also
    for steps, points without a value, and answers without a closed form. `sides` are (regime, low, high, share of the samples). `tornado`
    has (given, answer at its low end, answer at its high end) with all others at their middle, the widest first. `shown` is the point of
    the route and the elasticities: the middle, or the first one with an answer. `quantiles` are None if almost no sampled point has an
    answer.
    """

    ranges: Mapping[str, tuple[float, float]]
    method: str
    low: float
    high: float
    quantiles: Mapping[str, float | None]
    sides: tuple[tuple[str | None, float, float, float], ...]
    tornado: tuple[tuple[str, float, float], ...]
    answered: float
    samples: int
    seed: int
    shown: Mapping[str, float]


@immutable
class Part:
    """Equal replicas of a deployment: what they compute, their number, the chips of each, and its least and largest batch."""

    phase: str
    replicas: float
    chips_per_replica: float
    batch: tuple[float, float]


@immutable
class Result:
    """The fields of a `Solution`. The shape is always the same: empty `answers` have a `reason`. `unused` lists givens without effect.

    `lead` has the lines before the answer (possible deployments), `said` the lines after it (the binding parts and the best end). `kinds`
    gives the subject of each warning, at one point. `further` has the routes to the answers after the first. `with_prompts` is the answer
    for decode if prompts are computed on the same chips. `deployments` are those of `lead`, each with its groups of equal replicas.
    """

    unknown: str
    unit: str
    answers: tuple[Answer, ...]
    equations: tuple[str, ...] = ()
    given: Mapping[str, float] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)
    reason: Reason | None = None
    route: tuple[RouteStep, ...] = ()
    further: tuple[tuple[RouteStep, ...], ...] = ()
    lead: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    sweep: Sweep | None = None
    spans: Spans | None = None
    with_prompts: Answer | None = None
    deployments: tuple[tuple[Part, ...], ...] = ()

    @property
    def refusal(self) -> Reason:
        """Return the reason of a result without answers. Raise `ValueError` for any other."""
        if self.reason is None:
            raise ValueError(f"{self.unknown} has an answer, so there is no reason of a refusal")
        return self.reason

    @property
    def beside(self) -> dict[str, float]:
        """Return the answer with prompts on the same chips, and the chips of the first deployment, if there are such."""
        found = {
            "with_prompts": shown_end(self.with_prompts) if self.with_prompts else None,
            "deploy": sum(one.replicas * one.chips_per_replica for one in self.deployments[0]) if self.deployments else None,
        }
        return {name: value for name, value in found.items() if value is not None}

    @property
    def why_not(self) -> str:
        """Return the reason why there is no answer, in words, or an empty text if there is one."""
        return self.reason.message if self.reason else ""


@immutable
class Column:
    """One deployment: its name, its hardware and model, its answers in the order of the questions, and what the tables lack."""

    name: str
    hardware: tuple[str, ...]
    model: tuple[str, ...]
    solutions: tuple[Result, ...]
    refused: str = ""


def same_bound(bounds: Iterable[str | None]) -> str | None:
    """Return the bound that all of these share, or None if they differ."""
    found = {*bounds}
    return found.pop() if len(found) == 1 else None


def ways_to(solution: Result) -> Iterator[tuple[Answer, tuple[RouteStep, ...]]]:
    """Yield every answer with the route to it. Several answers may share one route."""
    further = solution.further if len(solution.further) == len(solution.answers) - 1 else (solution.route,) * (len(solution.answers) - 1)
    return zip(solution.answers, (solution.route, *further), strict=False)


def values_of_steps(steps: Iterable[RouteStep]) -> dict[str, float]:
    """Return the quantities that steps found as numbers."""
    return {step.unknown: step.value for step in steps if step.value is not None}


# Kinds of warnings.
BY_RULE = "by_rule"
"""The answer uses a reading, a condition or a rule of thumb that was not named."""
DECODE_ALONE = "prompts_elsewhere"
"""The answer does not include chips or chip time for the prompts of its requests."""
EITHER_BINDS = "either_may_bind"
"""The answer is exact if one of two times is longer, and unknown if the other one is."""
NO_WHOLE_ONE = "less_than_one"
"""There is no room for one sequence."""
NOT_INCLUDED = frozenset(
    (
        DECODE_ALONE,
        *("prompts_unsaid", "prompts_of_others_elsewhere", "latent_attention_left_out", "prefill_attention_left_out"),
        *("no_time_per_layer", "exchange_left_out", "sums_left_out", "hops_left_out", "drafts_for_nothing"),
    )
)
"""Warnings about a time or a cost that the answer does not include."""
