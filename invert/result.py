"""Define the records that a run of `infer` returns, with every number that is printed.

Properties compute results that take long and that the table does not show.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import date
from functools import cached_property
from shutil import get_terminal_size
from typing import TYPE_CHECKING, overload

from derive.catalogue import equation
from derive.errors import UnknownName, WrongValue, shorten
from derive.immutable import cut, immutable
from derive.tables.lines import Problem
from invert import records
from invert.assumptions import Assumptions
from invert.data import Made
from invert.estimate_text import estimate_text
from invert.estimators.all_prices import pricing_rules
from invert.estimators.cases import UNKNOWN, Case
from invert.estimators.lecture import PairInference, bandwidth_bound_fraction, invert_sheet
from invert.estimators.premium import Calibration
from invert.forward_model import Inversion
from invert.identify import identified, swings_of_all_prices, swings_of_premium
from invert.posterior.sampler import Marginal, Summary
from invert.sheets.assemble import is_provider, matches
from invert.sheets.diff import Difference
from invert.sheets.models import MAKERS
from invert.sheets.rows import FileText, PriceRow, SheetKey
from invert.sheets.sheet import copies, is_added, spelled

if TYPE_CHECKING:
    from pandas import DataFrame

DRAIN_TIME_RULE = "cache.drain_time_rule"
RELEASE_NOT_KNOWN = "release not known"
FIRST_PAIR = "first pair shown"
WEIGHTS_UNSURE = "weights may not be"


@immutable
class Inference(Case):
    """A case with its readings and estimates, each with the outside facts that it depends on, and its reliability. `str()` is the text of
    `backsolve infer MODEL`, and `full` is the full report.

    `kv_bytes` are the estimates of KV bytes read per step by estimator (including "typical"), `kv_bytes_stored` those of bytes stored in
    memory, `estimates` those of other quantities. `convention` is None without a premium.
    `calibration` is an input of properties that are computed on first use.

    >>> from invert.inference import infer
    >>> one = infer("gemini-3.1-pro")[0]
    >>> str(one).splitlines()[0][:37]
    'google gemini-3.1-pro-preview (standa'
    >>> one.name, str(one.active_params), str(one.kv_bytes["typical"])
    ('google/gemini-3.1-pro-preview', '63 B (20-190) at 90 %, right for 7 of 7', '49 kB (7.3-330) at 90 %, right for 11 of 14')
    """

    pairs: tuple[PairInference, ...]
    tiers: tuple[records.TierReading, ...]
    implied_drain_time: records.Reading | None
    known: records.KnownCache | None
    summary: Summary | None
    kv_bytes: Mapping[str, records.Estimate]
    kv_bytes_stored: Mapping[str, records.Estimate]
    estimates: Mapping[str, records.Estimate]
    by_price: Mapping[str, records.Estimate]
    reliability: records.Reliability
    convention: records.Convention | None
    storage: tuple[records.TierEvidence, ...]
    contradiction: str | None
    flags: tuple[str, ...]
    calibration: Calibration = field(compare=False)
    fast_mode: records.FastMode | None = None
    run: "Run | None" = field(default=None, compare=False)

    def __str__(self) -> str:
        from invert.report.layout import laid_out
        from invert.report.sheet import short_parts

        return laid_out(short_parts(self, self._of_run()), _width())

    @property
    def full(self) -> str:
        """Every reading with its numbers and its record, and the quantities that the prices can determine."""
        from invert.report.layout import laid_out
        from invert.report.sheet import full_parts

        return laid_out(full_parts(self, self._of_run()), _width())

    def _repr_html_(self) -> str:
        from invert.report.sheet import short_parts
        from invert.report.table import report_document

        return report_document(short_parts(self, self._of_run()), "html")

    def _of_run(self) -> "Run":
        if self.run is None:
            raise WrongValue("an inference can only be shown as a part of the table that infer returns")
        return self.run

    def __repr__(self) -> str:
        tier = "" if self.sheet.service_tier == "standard" else f" ({self.sheet.service_tier})"
        kv = estimate_text("kv_bytes_per_token", self.kv_bytes["typical"])
        return cut(f"Inference({self.name}{tier} on {self.sheet.as_of}: KV {kv})")

    @property
    def first_pair(self) -> PairInference | None:
        """First pair of bands, or None for a sheet with one band."""
        return self.pairs[0] if self.pairs else None

    @property
    def contractions(self) -> Mapping[str, Marginal]:
        """How much the prices narrow the prior of each quantity. It is empty without draws that fit."""
        return self.summary.marginals if self.summary else {}

    @property
    def size_stated(self) -> bool:
        """Whether its active parameters are stated by a table or given by the user."""
        return self.anchors.origin["active_params"] not in UNKNOWN

    @property
    def active_params(self) -> records.Estimate:
        """Its stated active parameters, else the estimate by price."""
        if not self.size_stated:
            return self.by_price["active_params"]
        return records.given_value(self.anchors.values["active_params"], "active_params")

    @property
    def name(self) -> str:
        """provider/model, as prices.csv has them."""
        return f"{self.sheet.provider}/{self.sheet.model}"

    @property
    def key(self) -> SheetKey:
        """Provider, model, region and service tier, which identify its sheet on every day."""
        return self.sheet.key

    @property
    def is_maker(self) -> bool:
        """Whether its provider is known as the maker of the model."""
        return self.model.first_party if self.model else self.sheet.provider in MAKERS

    def adds(self, place: str) -> bool:
        """Return whether a price that was set by hand, `input@400k`, has no published counterpart."""
        return is_added(place, self.sheet)

    @property
    def copied(self) -> dict[str, str]:
        """Prices that a band added by hand copies from the band below, `output@400k`, with their origins."""
        return {spelled(place): of for place, of in copies(self.sheet).items()}

    @property
    def apart(self) -> float | None:
        """Ratio of the largest to the smallest premium-based median, or None if there are fewer than two."""
        medians = [one.median for name, one in self.kv_bytes.items() if one.median and name != "typical"]
        return max(medians) / min(medians) if len(medians) > 1 else None

    @property
    def times_reading(self) -> Mapping[str, float] | None:
        """Known KV bytes over the KV bytes of each reading of the first pair, or None without a pair or a known cache."""
        if not self.known or not self.first_pair:
            return None
        readings = (self.first_pair.lecture, self.first_pair.joint)
        return {one.name: self.known.read / kv for one in readings if (kv := one.values.get("kv_bytes_per_token"))} or None

    @cached_property
    def named_estimates(self) -> dict[records.Name, records.Estimate]:
        """Every estimate by quantity and estimator."""
        return {
            **{("kv_bytes_per_token", estimator): found for estimator, found in self.kv_bytes.items()},
            **{("kv_bytes_stored_per_token", estimator): found for estimator, found in self.kv_bytes_stored.items()},
            **{(quantity, "by_price"): found for quantity, found in self.by_price.items()},
            **{(quantity, ""): found for quantity, found in self.estimates.items()},
        }

    @cached_property
    def inversion(self) -> Inversion:
        """Input price, KV bytes and bandwidth-bound fraction that reproduce the prices that the lecture reads."""
        return invert_sheet(self)

    @cached_property
    def bandwidth_bound(self) -> records.Reading:
        """The bandwidth-bound fraction by the lecture's reading of output price over input price."""
        return bandwidth_bound_fraction(self.observables.output_input_ratio.value)

    @cached_property
    def equations(self) -> tuple[str, ...]:
        """Every equation of its readings and estimates, as id@version, in order."""
        first = (reading for pair in self.pairs[:1] for reading in (pair.lecture, pair.joint))
        used = [
            id for one in (*first, self.bandwidth_bound, self.implied_drain_time) if one and one.values for id in one.solution.equations
        ]
        for estimates in (self.kv_bytes, self.estimates, self.kv_bytes_stored):
            used += [id for estimate in estimates.values() for id in estimate.equations]
        return tuple(dict.fromkeys([*used, *([equation(DRAIN_TIME_RULE).reference] if self.tiers else [])]))

    @cached_property
    def rules(self) -> records.PricingRules | None:
        """KV bytes by each pricing rule over the first pair of bands, or None for a sheet with one band."""
        return pricing_rules(self.pairs[0].pair, self.anchors.values, self.max_context) if self.pairs else None

    @cached_property
    def identifiability(self) -> records.Identifiability:
        """Quantities that the prices determine at the joint reading of the first pair, if there is one."""
        point = self.first_pair.joint.values if self.first_pair else {}
        return identified(tuple(self.price_data.cells), self.observables.contexts, self.anchors.values, point)

    @cached_property
    def swings(self) -> Mapping[str, tuple[records.Swing, ...]] | None:
        """Swings of the price/cost interval, by estimator of KV bytes, or None without an interval."""
        if not self.pairs or self.contradiction or self.kv_bytes["from_all_prices"].kind != "interval":
            return None
        return {
            "from_all_prices": swings_of_all_prices(self.price_data, self.assumptions),
            "from_premium": swings_of_premium(self.price_data, self.calibration.increments, self.assumptions),
        }


@immutable
class Request:
    """Question of a run, except anchors and changes. `as_of` is None if the data decide the day."""

    names: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    tier: str | None = None
    as_of: date | None = None
    everything: bool = False
    prices: FileText | None = None
    knowledge: FileText | None = None

    @property
    def selects(self) -> bool:
        """Whether it is about the sheets of some models or providers alone."""
        return bool(self.names or self.providers)


@immutable
class Shown:
    """Display options: the form of the answer, patterns for its sheets (`wanted`), and the column of the order (`by`). `against` is the
    other side of a comparison: a day, the shipped prices, or a file.
    """

    style: str = "table"
    full: bool = False
    wide: bool = False
    summary: bool = False
    history: bool = False
    columns: str | None = None
    by: str | None = None
    wanted: tuple[str, ...] = ()
    against: str | FileText | None = None

    @property
    def column_names(self) -> list[str]:
        """Return the names of the columns, each once."""
        return [*dict.fromkeys(self.columns.split(","))] if self.columns else []


AS_TABLE = Shown()
"""The default display options."""


@immutable
class InferenceTable:
    """Result of `infer`: one inference per sheet, by position or by name, and the results that all sheets share. `str()` is the table for a
    terminal, with a row for every sheet.

    >>> from invert.inference import infer
    >>> table = infer(["gemini-3.1-pro", "gpt-5.4"])
    >>> table
    InferenceTable(2 sheets, prices of 2026-11-20)
    >>> len(table), [one.name for one in table], len(table.to_frame())
    (2, ['google/gemini-3.1-pro-preview', 'openai/gpt-5.4'], 2)
    >>> table["openai/gpt-5.4"] is table["gpt-5.4"] is table[1]
    True
    >>> table[0]
    Inference(google/gemini-3.1-pro-preview on 2026-11-20: KV 49 kB (7.3-330))

    These results are from all sheets on offer that day, chosen or not: `premiums` (each pair of prices of a provider once),
    `shared_tariffs`, and `base_inputs` (the input price of the first band in every service tier [USD/token]). `premium_verdict` compares
    estimates from premiums with the typical KV. It is empty if too few families have a premium. `price_cost_of_lists` is the median
    price/cost of open models with known parameters. `mean_contexts` gives the assumed mean context of a band, as a share of the band.
    `drain_times` [s] are by device and tier, for the devices that the lecture names and for real ones.

    `rows` are the prices behind the sheets, without prices that were set by hand. `before` has the results at published prices, if prices
    were set by hand. `of_other_days` counts sheets that have prices on other days only. `not_picked` has sheets that a choice left out.
    `lecture_error` is the range of true KV bytes over the lecture's, on all shipped sheets with known KV bytes. `doubts` are questions
    about prices. `since_release` lists prices that the last release does not have.
    """

    inferences: tuple[Inference, ...]
    as_of: date
    anchors: records.Anchors
    assumptions: Assumptions
    premiums: tuple[records.Premiums, ...]
    premium_verdict: records.Verdict | None
    price_cost_of_lists: float | None
    mean_contexts: Mapping[str, float]
    drain_times: Mapping[str, Mapping[str, float]]
    tier_rules: records.TierRules
    negative_controls: tuple[records.NegativeControl, ...]
    shared_tariffs: tuple[records.SharedTariff, ...]
    base_inputs: Mapping[SheetKey, float]
    of_other_days: int
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    changes: Mapping[str, str]
    request: Request
    rows: tuple[PriceRow, ...]
    made: Made
    lecture_error: records.Span | None = None
    doubts: tuple[Problem, ...] = ()
    since_release: tuple[Difference, ...] = ()
    before: Mapping[SheetKey, Inference] = field(default_factory=dict)
    not_picked: frozenset[SheetKey] = frozenset()

    def __str__(self) -> str:
        from invert.report.table import glance

        return glance(self, _width())

    def _repr_html_(self) -> str:
        from invert.report.table import document

        return document(self, "html")

    def to_frame(self) -> "DataFrame":
        """Return a pandas table with one row per sheet."""
        # pandas takes longer to load than the whole of infer.
        from pandas import DataFrame

        from invert.report.columns import CSV_KEYS, flat

        return DataFrame([flat(one) for one in self], columns=list(CSV_KEYS))

    def __iter__(self) -> Iterator[Inference]:
        return iter(self.inferences)

    def __len__(self) -> int:
        return len(self.inferences)

    def __post_init__(self) -> None:
        for one in self.inferences:
            # Each knows the table that it is shown with, as cached properties know their values.
            vars(one)["run"] = self

    @overload
    def __getitem__(self, place: int | str) -> Inference: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Inference, ...]: ...
    def __getitem__(self, place: int | str | slice) -> Inference | tuple[Inference, ...]:
        if not isinstance(place, str):
            return self.inferences[place]
        found = self._called(place)
        if not found:
            raise UnknownName("sheet", place, [one.name for one in self.inferences])
        if len(found) > 1:
            several = len({one.name for one in found.values()}) > 1
            where = ", ".join(f"{at} ({one.name if several else one.sheet.service_tier})" for at, one in found.items())
            raise WrongValue(f"{len(found)} sheets here are of {shorten(place)}; select one by its position: {where}")
        return next(iter(found.values()))

    def __contains__(self, one: object) -> bool:
        return bool(self._called(one)) if isinstance(one, str) else one in self.inferences

    def _called(self, name: str) -> dict[int, Inference]:
        """Return the inferences that a name matches, by position."""
        pairs = {at: (one.sheet.provider, one.sheet.model) for at, one in enumerate(self.inferences)}
        aliases = {pairs[at]: one.model.aliases for at, one in enumerate(self.inferences) if one.model}
        meant = matches(name, [*dict.fromkeys(pairs.values())], aliases)
        return {at: self.inferences[at] for at, pair in pairs.items() if pair in meant}

    def __repr__(self) -> str:
        return f"InferenceTable({len(self)} sheet{'s' * (len(self) != 1)}, prices of {self.as_of})"

    @cached_property
    def beside(self) -> dict[SheetKey, float]:
        """The first input price [USD/token] of every requested sheet of the day that can be read and is not in the run."""
        shown = {one.key for one in self}
        models, providers = {key[:2] for key in shown}, self.request.providers
        unread = {problem.origin for problem in self.problems if problem.row is None}
        return {
            key: asked
            for key, asked in self.base_inputs.items()
            if key not in shown
            and (not self.request.names or key[:2] in models)
            and (not providers or any(is_provider(key[0], one) for one in providers))
            and f"{key[0]}/{key[1]}" not in unread
        }

    def also_sold(self, one: Inference) -> tuple[records.AlsoSold, ...]:
        """Return other offers of its model on that day that are not in the run."""
        base, of = one.sheet.bands[0].input.usd_per_token, (one.sheet.provider, one.sheet.model)
        return tuple(
            records.AlsoSold(service_tier=tier, region=region, input_price=asked, times=asked / base)
            for (provider, model, region, tier), asked in self.beside.items()
            if (provider, model) == of
        )

    @property
    def given(self) -> dict[str, float]:
        """The anchors that were given [SI], by name."""
        return {name: value for name, value in self.anchors.values.items() if self.anchors.origin[name] == "given"}


Run = InferenceTable
"""Short name for modules that print it."""


def _width() -> int:
    """Return the columns of the terminal, or those of a page if there is no terminal."""
    return get_terminal_size((100, 0)).columns
