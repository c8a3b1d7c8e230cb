"""Record every chosen number of the price side that another analyst could choose differently: value, unit, reason and source.

Every run has one record. All functions get it as an argument, and saved results contain it. Numbers that decide only the numerical
precision (draws, seeds, tolerances) are constants of their modules. docs/reference/assumptions.md lists the record.

The prior of a hidden quantity is a normal on a log scale, or on a logit scale between two ends. The three structural quantities are the
targets. The nuisances must also be known. Prices change the first four only a little. Each collapsed quantity enters one price and is
integrated out exactly.
"""

from collections.abc import Collection, Mapping
from dataclasses import field, fields, replace
from functools import cached_property
from math import log, pi
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeVar, cast

from derive.catalogue import equation
from derive.immutable import immutable
from derive.quantities import QUANTITIES

if TYPE_CHECKING:
    from invert.arrays import Values

_Draws = TypeVar("_Draws", bound="Values")

STRUCTURE = ("kv_bytes_per_token", "attention_intensity", "weight_compute_ratio")
"""The quantities that a sheet is to determine. KV bytes are per active parameter here, so the size of the model cancels in ratios."""

NUISANCES = (
    "ridge_point", "prefill_decode_flops_ratio", "overlap", "short_context", "long_context", "prompt_position", "tier_read_cost_ratio",
    "suffix_tokens",
)  # fmt: skip
"""The nuisances of every sheet, each with one coordinate of the draws. Contexts are shares of the bands of the sheet."""

COLLAPSED = ("active_params", "price_per_parameter", "sweep_time", "holding_cost_ratio", "cache_read_price_cost_ratio")
"""Each of these is a factor of one price. It is integrated out exactly: its spread is added to the spread of the price."""

OBSERVED = ("input_price", "output_input_ratio", "premium_in", "premium_out", "cache_read_ratio", "storage_ratio")
"""The published prices. Each one has its own noise around the price that follows from cost."""


@immutable
class Prior:
    """One hidden quantity: normal with this centre and spread, in nats, or in logits of a share of [low, high].

    `centre` is on the natural scale (a median), or the logit itself where there are ends. With a spread of 0 it is fixed.
    """

    centre: float
    spread: float
    ends: tuple[float, float] | None = None

    def at(self, normal: _Draws) -> _Draws:
        """Return values at standard normal draws.

        >>> Prior(centre=300.0, spread=0.4).at(0.0), Prior(centre=0.0, spread=1.0, ends=(0.0, 1.0)).at(0.0)
        (300.0, 0.5)
        """
        import numpy as np

        if self.ends is None:
            value = self.centre * np.exp(self.spread * normal)
        else:
            low, high = self.ends
            value = low + (high - low) / (1 + np.exp(-(self.centre + self.spread * normal)))
        return cast("_Draws", value if isinstance(normal, np.ndarray) else float(value))

    @property
    def normal(self) -> tuple[float, float]:
        """Mean and spread of the log of a quantity without ends.

        >>> Prior(centre=1.0, spread=0.5).normal
        (0.0, 0.5)
        """
        return log(self.centre), self.spread


def normal_log_density(value: "Values", mean: "Values", spread: "Values") -> "Values":
    """Return the log density of a normal."""
    import numpy as np

    density: Values = -0.5 * ((value - mean) / spread) ** 2 - np.log(spread) - 0.5 * log(2 * pi)
    return density


_OURS = "our choice"
_LECTURE = "the lecture"


@immutable
class Note:
    """Metadata of a field: its unit, the reason for the number, its source, and how a run varies it.

    `anchor`: `--anchor` replaces it. `prior`: the field of its prior, which is used if no value is given. `within`: the field with the
    spread of ranges around it.
    """

    unit: str
    why: str
    source: str
    anchor: bool = False
    prior: str = ""
    within: str = ""

    @property
    def varied(self) -> str:
        """Return in words how a run varies it.

        >>> Note(unit="1", why="", source="", anchor=True, prior="overlap_prior").varied, Note(unit="s", why="", source="").varied
        ('--anchor, else drawn from overlap_prior', 'held')
        """
        ways = ("--anchor" if self.anchor else "", self.prior and f"else drawn from {self.prior}", self.within and f"within {self.within}")
        return ", ".join(filter(None, ways)) or "held"


def _number(default: object, unit: str, why: str, source: str = _OURS, **how: Any) -> Any:
    # Any, as `dataclasses.field` returns: the annotation beside it says what the field is.
    return field(default=default, metadata={"note": Note(unit=unit, why=why, source=source, **how)})


def _fact(default: float | None, why: str, source: str = _OURS, within: str = "", **how: str) -> Any:
    """Define an outside fact that a user may give, in the unit of the registry. Unless it is within a spread, it may have a prior."""
    return _number(default, "", why, source, anchor=True, within=within, **how)


def _prior(unit: str, centre: float, spread: float, why: str, ends: tuple[float, float] | None = None, source: str = _OURS) -> Any:
    # Assumptions are asked for their hash at every turn: what else they hold tells most of them apart.
    return field(
        default=Prior(centre=centre, spread=spread, ends=ends),
        hash=False,
        metadata={"note": Note(unit=unit, why=why, source=source)},
    )


@immutable
class Assumptions:
    """Assumptions of one run. Spreads and noise are in nats. FLOP/s and byte/s are sustained rates, so mfu and mbu are 1.

    A field has its usual value unless another is given. Prefer to give outside facts to `infer` as `anchors`, which records that they were
    given.

    >>> usual = Assumptions()
    >>> usual.ridge_point, usual.priors["overlap"].spread, usual.noise["premium_in"], usual.level
    (600.0, 1.2, 0.15, 0.9)
    >>> round(Assumptions(level=0.5).reach, 4)
    0.6745
    """

    given: tuple[str, ...] = ()
    """Outside facts that a user gave, in order."""

    # Outside facts.

    active_params: float | None = _fact(None, "given, else from models.csv, else assumed_active_params", "models.csv", "known_size_spread")
    machine_balance_ratio: float = _fact(
        300.0, "the lecture's value for today's accelerators", _LECTURE + ", 0:17:56", "ridge_point_spread"
    )
    bytes_per_weight: float = _fact(1.0, "fp8 weights, as for a machine balance ratio of 300", _LECTURE + ", 1:36:01", "ridge_point_spread")
    prompt_position: float = _fact(0.5, "the average token of a new prompt has half of the prompt before it")
    prefill_decode_flops_ratio: float = _fact(1.0, "prefill and decode run at the same FLOP/s, because no sheet shows a difference")
    overlap: float = _fact(1.0, "the longer of the two times, as in a roofline", _LECTURE + ", 0:02:50")
    sweep_time: float | None = _fact(None, "unless given, sweep_time_of_peak over sustained_mbu", prior="sweep_time_of_peak_prior")
    holding_cost_ratio: float = _fact(1.0, "storage costs as much as the memory from which decode reads")
    short_context: float | None = _fact(None, "unless given, the median of its prior, because no sheet has the mean context of a band")
    long_context: float | None = _fact(None, "unless given, the median of its prior, for every band above a threshold")
    kv_bytes_per_token: float | None = _fact(None, "unless given, the estimators estimate it", within="given_kv_spread")
    max_context: float | None = _fact(None, "unless given, from the rows of a sheet or models.csv, else nominal_context", "models.csv")

    # Coverage in every reading and estimate.

    tokens_per_step: float = _number(1.0, "token", "no sheet reveals it. KV bytes from decode prices are larger by this factor")
    kv_replication: float = _number(1.0, "1", "no sheet has the number of copies of the cache. With more copies KV bytes are smaller")
    assumed_active_params: float = _number(
        1e11, "1", "the lecture's size for a model without stated parameters", _LECTURE + ", 1:36:01", within="assumed_size_spread"
    )
    sustained_mbu: float = _number(
        0.794, "1", "the measured share of the bandwidth in a decode step", "efficiencies.csv, Llama-3-70B attention, 8 H200"
    )
    sweep_time_of_peak: float = _number(
        0.024, "s", "capacity over bandwidth in the data sheets of H100 and B200", "memory_tiers.csv, rows H100-SXM and B200-SXM"
    )
    lecture_batch_multiple: float = _number(2.0, "1", "the lecture uses two or three balance batches", _LECTURE + ", 0:19:41")

    # What is believed of the hidden quantities before a sheet is seen.

    kv_bytes_per_token_prior: Prior = _prior(
        "byte/token", 5e-7, 1.8, "KV bytes per token and active parameter: 9e-7 to 3e-5 for open models, 1.7e-8 by the lecture's reading",
        source="architectures.csv",
    )  # fmt: skip
    attention_intensity_prior: Prior = _prior(
        "FLOP/byte", 30.0, 1.0, "8 to 16 for grouped-query attention, 71 to 242 for latent attention", source="architectures.csv"
    )
    weight_compute_ratio_prior: Prior = _prior("1", 1.0, 1.0, "most batches are a third to three times the balance batch")
    ridge_point_spread: float = _number(
        0.4, "nat", "spread around the ridge point above: accelerators in bf16 and fp8, times mfu/mbu", "hardware.csv"
    )
    prefill_decode_flops_ratio_prior: Prior = _prior(
        "1", 1.1, 0.4, "in theory prefill has more FLOP/s than decode. In the one disclosure it has less", source="disclosures.csv"
    )
    overlap_prior: Prior = _prior("1", 0.5, 1.2, "any value between sum and maximum", (0.0, 1.0))
    short_context_prior: Prior = _prior(
        "share", -1.87, 0.8,
        "share of the first threshold. Most requests are far shorter. If longer requests are always rarer, the mean is at most half",
        (0.0, 0.6),
    )  # fmt: skip
    long_context_prior: Prior = _prior(
        "share", -1.4, 0.8,
        "position inside each band above a threshold. Longer requests are rarer, so the mean is in the lower half", (0.0, 1.0),
    )  # fmt: skip
    prompt_position_prior: Prior = _prior("1", 0.0, 1.0, "1/2 if the whole prompt is new, 1 for a short suffix", (0.5, 1.0))
    tier_read_cost_ratio_prior: Prior = _prior("1", 5.0, 1.5, "a hit reads from HBM or from a more expensive memory")
    suffix_tokens_prior: Prior = _prior("token", 1500.0, 1.0, "new tokens after a cached prefix")
    active_params_prior: Prior = _prior("1", 6e10, 1.0, "only for simulated sheets: frontier and small models")
    price_per_parameter_prior: Prior = _prior(
        "USD", 3e-18, 1.0, "price/cost times the prefill cost of a parameter: from the cost at 2 USD/h to 20 times this cost"
    )
    sweep_time_of_peak_prior: Prior = _prior(
        "s", 0.027, 0.25, "capacity over bandwidth of accelerators. Most have 24 to 37 ms", source="memory_tiers.csv, tier hbm"
    )
    holding_cost_ratio_prior: Prior = _prior("1", 0.3, 1.3, "storage may cost as much as HBM or less, or have an independent price")
    cache_read_price_cost_ratio_prior: Prior = _prior("1", 3.0, 1.0, "the price of hits is above their cost")

    # The deviation of a price from a common price/cost.

    input_price_noise: float = _number(0.05, "nat", "price_per_parameter includes price/cost, so little more than rounding remains")
    output_input_ratio_noise: float = _number(0.35, "nat", "hosts of one open model differ by 0.5 in output/input", "prices.csv")
    premium_in_noise: float = _number(0.15, "nat", "price/cost cancels in a premium, so a premium is closer to cost than a price is")
    premium_out_noise: float = _number(0.15, "nat", "price/cost cancels in a premium, so a premium is closer to cost than a price is")
    cache_read_ratio_noise: float = _number(0.5, "nat", "vendors choose the price of a hit as a discount more than by its cost")
    storage_ratio_noise: float = _number(0.5, "nat", "few vendors sell storage, at prices that do not follow token prices")

    # How firmly a fact about the model is known.

    known_size_spread: float = _number(0.05, "nat", "given or verified active parameters: the rounding of the published value")
    unverified_size_spread: float = _number(0.2, "nat", "active parameters of models.csv that are not verified")
    assumed_size_spread: float = _number(1.0, "nat", "active parameters of a model without a stated size")
    given_kv_spread: float = _number(0.05, "nat", "given KV bytes, as certain as known parameters")
    known_cache_spread: float = _number(0.35, "nat", "KV bytes of a public architecture: the data type of the cache is not known")
    bytes_per_kv_value: float = _number(2.0, "byte", "bf16, for the caches of public architectures. Ratios of caches do not depend on it")

    # What the market says.

    extra_price_cost_ratio_prior: Prior = _prior(
        "1", 1.0, 0.6,
        "extra price/cost of a vendor with closed weights, before any closed model of known size. It may have either sign",
    )  # fmt: skip
    typical_kv_spread: float = _number(1.0, "nat", "spread of KV bytes between models of one date, before any data", "architectures.csv")
    typical_kv_prior_families: float = _number(3.0, "1", "weight of this prior spread, as a number of families")
    typical_kv_horizons: tuple[float, ...] = _number(
        (0.25, 0.5, 1.0, 2.0),
        "year",
        "times in which the weight of a model falls by a factor of e. The time that predicts later models best is used",
    )
    horizon_chosen_before: str = _number("2026-03-15", "", "models released after this date only test the horizon")
    sparse_ratio: float = _number(1.05, "1", "total over active parameters above which a model is sparse")
    sparse_since: float = _number(2025.0, "year", "sparse open models released after this date are like the closed models of today")
    least_hosts: float = _number(3.0, "1", "smallest number of hosts for a size from their median price", "host_prices.csv")
    least_families: int = _number(3, "1", "smallest number of families for a statement on the gain of a price over typical KV")
    least_to_learn: int = _number(4, "1", "smallest number of groups for a fitted line: two for the line, two for its error")
    least_freedom: int = _number(3, "1", "smallest degrees of freedom of the predictive Student's t")
    slope_ridge: float = _number(
        1e-3, "1", "added to squares of slopes, for groups with one price. Ten times this moves no end of a range by 0.2 %"
    )
    least_gain_in_errors: float = _number(1.0, "1", "standard errors that a gain must exceed, before a price counts in an estimate")
    size_prices: tuple[float, ...] = _number(
        (0.1, 3.0), "USD/Mtoken", "range of the input prices of open models. Outside this range a size is extrapolated", "list_prices.csv"
    )

    # Bands and published numbers.

    nominal_context: float = _number(128e3, "token", "longest context of a sheet with one band if the context of its model is not known")
    nominal_threshold_share: float = _number(0.5, "1", "threshold of a sheet with one band over its longest context, for the mean context")
    open_top_ratio: float = _number(2.0, "1", "end of the last band over its threshold, if the longest context is unknown", "prices.csv")
    nice_numbers: tuple[float, ...] = _number(
        (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0), "1",
        "numbers to which vendors round, times a power of ten. A rounding cell ends at the geometric mean with the next number",
        "prices.csv",
    )  # fmt: skip

    # What is printed of an estimate.

    level: float = _number(0.9, "1", "probability of an interval and of a bound", "usual in the field")
    prior_dominated_below: float = _number(0.3, "1", "contraction below which an estimate comes mostly from the prior")
    feasible_share: float = _number(0.05, "1", "share of draws below which a sheet contradicts the model")

    # KV from premium at cost.

    rent_chip: str = _number(
        "H100-SXM:bf16", "", "the accelerator whose rent is disclosed, at its data-sheet peaks", "hardware.csv; disclosures.csv, chip_price"
    )
    rent_spread: float = _number(0.25, "nat", "spread of the rent of a byte of HBM between accelerators and contracts", "disclosures.csv")

    # Convention or cost.

    convention_count: float = _number(1.0, "1", "initial count for a pair of premiums, and for all others (rule of succession)", "Laplace")

    # Storage.

    band_means_spread: float = _number(0.45, "nat", "spread of the distance between two band means. No sheet has the distance")
    range_level: float = _number(0.9, "1", "probability between low and high of a row of memory_tiers.csv, or of a rounding cell")
    price_years: tuple[int, ...] = _number(
        (2025, 2026), "year", "years of hardware prices that a vendor may use. Draws with a single year use the last year",
        "memory_tiers.csv",
    )  # fmt: skip
    tier_range_factor: float = _number(
        2.0, "1", "smallest factor of this range around the median. It assumes that server and power double the cost",
        "memory_tiers.csv",
    )  # fmt: skip
    storage_price_cost_ratio_prior: Prior = _prior(
        "1", 3.0, 2.0, "storage price over its cost. The spread is from vendors with one price for different models",
        source="prices.csv",
    )  # fmt: skip
    output_storage_price_cost_ratio_prior: Prior = _prior(
        "1", 1.0, 1.5, "price/cost of output over price/cost of storage. Either may be higher"
    )
    drain_match_spread: float = _number(1.0, "nat", "spread of lifetimes around the drain time of their tier")
    cost_temperature: float = _number(3.0, "1", "vendors keep caches in idle memory, so cost decides little. Less is refused")
    transfers_per_hold: float = _number(2.0, "1", "one write and one read per hold")
    lifetime_not_stated: float = _number(
        43200.0, "s", 'geometric middle of "a few hours to a few days", read as 3 to 48 hours', "disclosures.csv, topic cache_tier"
    )

    # What is asked about, and what is named.

    least_usual_price: float = _number(
        1e-3,
        "USD/Mtoken",
        "a lower price is probably per token or per thousand tokens. It is a tenth of the lowest real price",
        "prices.csv",
    )
    usual_price_ratio: float = _number(
        10.0, "1", "a larger factor to the nearest price of the same provider probably means another unit or currency", "prices.csv"
    )
    least_neighbours: float = _number(3.0, "1", "smallest number of models of a provider at which one can be an outlier")
    usual_years: float = _number(3.0, "year", "a day that is farther from all other days of its file is probably a typing error")
    days_sold_before_release: float = _number(
        31.0, "day", "longest time from a preview to the release of its model, or longest delay of a database", "models.csv; prices.csv"
    )
    same_price_within: float = _number(2e-3, "1", "relative difference of prices that differ only by rounding", "prices_rivals.csv")
    same_converted_within: float = _number(
        0.1,
        "1",
        "largest relative difference at which prices in two currencies are the same. Databases use their own exchange rates",
        "fx.csv",
    )
    dominant_price: float = _number(
        10.0, "1", "a price is the cause of a change if its effect is this many times the effect of every other price"
    )

    rounding_of_change: float = _number(0.5, "1", "a slope is printed up to this difference between the changes of a price and of its cell")

    # What follows from the fields.

    @cached_property
    def facts(self) -> dict[str, float]:
        """The outside facts of a run that all sheets share [SI]: defaults, fixed values and given values."""
        values = {name: getattr(self, name) for name in (*ANCHORS, *ASSUMED)}
        values["sweep_time"] = self.sweep_time_of_peak / self.sustained_mbu if self.sweep_time is None else self.sweep_time
        shared = [name for name in (*FACTS, *ASSUMED) if name not in UNLESS_GIVEN]
        return {name: values[name] for name in (*shared, *self.given)}

    @cached_property
    def ridge_point(self) -> float:
        """Sustained FLOP per byte that follow from machine_balance_ratio and bytes_per_weight."""
        # The ratio is proportional to the ridge point.
        return float(self.facts["machine_balance_ratio"] / equation(RIDGE_POINT).right_side({**self.facts, "ridge_point": 1.0}))

    @cached_property
    def priors(self) -> dict[str, Prior]:
        """Every prior by its quantity. A given value fixes its prior, or moves the centre of the ridge point."""
        return {name: self._prior_of(name) for name in (*STRUCTURE, *NUISANCES, *COLLAPSED)}

    def _prior_of(self, name: str) -> Prior:
        if name == "ridge_point":
            return Prior(centre=self.ridge_point, spread=self.ridge_point_spread)
        if name == "sweep_time":
            prior = replace(self.sweep_time_of_peak_prior, centre=self.sweep_time_of_peak_prior.centre / self.sustained_mbu)
        else:
            prior = getattr(self, f"{name}_prior")
        fixed = name in self.given and name in HELD_FIXED
        return replace(prior, centre=self.facts[name], spread=0.0, ends=None) if fixed else prior

    @cached_property
    def noise(self) -> dict[str, float]:
        """Noise of each price about a common price/cost [nat]."""
        return {name: getattr(self, f"{name}_noise") for name in OBSERVED}

    @cached_property
    def held(self) -> dict[str, float]:
        """Quantities that every reading and estimate fixes at one value."""
        return {name: getattr(self, name) for name in ASSUMED}

    @cached_property
    def reach(self) -> float:
        """Standard deviations of a normal from its median to each end of a printed interval."""
        return NormalDist().inv_cdf((1 + self.level) / 2)

    @property
    def tails(self) -> tuple[float, float]:
        """The probabilities below the ends of a printed interval."""
        return (1 - self.level) / 2, (1 + self.level) / 2

    @cached_property
    def range_reach(self) -> float:
        """The probabilities below low and high of a table."""
        return NormalDist().inv_cdf((1 + self.range_level) / 2)

    def with_fields(self, values: Mapping[str, Any]) -> "Assumptions":
        """Return a copy with other values of some fields, by name."""
        return replace(self, **values)

    def with_noise(self, noise: Mapping[str, float]) -> "Assumptions":
        """Return a copy with other noise of some observables [nat]."""
        return self.with_fields({f"{name}_noise": spread for name, spread in noise.items()})

    def without_facts(self, names: Collection[str]) -> "Assumptions":
        """Return a copy without some of the given facts."""
        gone = {name: _BY_NAME[name].default for name in self.given if name in names}
        return self.with_fields(gone | {"given": tuple(name for name in self.given if name not in names)}) if gone else self


RIDGE_POINT = "batching.machine_balance_ratio"
_BY_NAME = {one.name: one for one in fields(Assumptions)}


def _note(name: str, note: Note) -> Note:
    """Return the metadata of a field, for an outside fact with its unit and the prior of its name."""
    prior = note.prior or ("" if note.within or f"{name}_prior" not in _BY_NAME else f"{name}_prior")
    return replace(note, unit=QUANTITIES[name].unit, prior=prior) if note.anchor else note


NOTES: Mapping[str, Note] = {name: _note(name, one.metadata["note"]) for name, one in _BY_NAME.items() if "note" in one.metadata}
"""The metadata of each field, in order."""

ASSUMED = ("tokens_per_step", "kv_replication")
"""Facts with one fixed value in every reading and estimate. They are printed with the anchors and cannot be given."""
ANCHORS = tuple(name for name, note in NOTES.items() if note.anchor)
"""Every outside fact that may be given."""
FACTS = tuple(name for name in ANCHORS if name != "max_context")
"""The assumptions that readings and estimates use and name. They get the longest context only from the sheets, where it is written."""
HELD_FIXED = tuple(name for name in FACTS if NOTES[name].prior)
"""Facts that are known to the posterior if they are given. By default they vary over their priors."""
UNLESS_GIVEN = tuple(name for name in ANCHORS if _BY_NAME[name].default is None and name != "sweep_time")
"""Facts of one model or of its traffic. They have no default, and are not valid for other models."""

USUAL = Assumptions()
"""Nothing given."""
