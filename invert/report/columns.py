"""The list of columns: every table, CSV, frame, history and comparison of inferences is a choice from it.

A column has a key, headings, a unit, a value, a text, a range, an order, a record and a meaning.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from derive.errors import UnknownName, WrongValue, suggest
from derive.immutable import immutable
from derive.quantities import QUANTITIES
from derive.units import show
from invert.assumptions import USUAL, Assumptions
from invert.encoder import value_at
from invert.estimate_text import KV_NAMES, bracket_range, kv_heading, middle_text, new_column_key, plain_digits, range_text, round_digits
from invert.records import TIER_NAMES, Estimate, verdict
from invert.report import tiers
from invert.report.layout import NONE, aligned, billions, dollars
from invert.report.prices import fast_mode_in_brief
from invert.report.tiers import ABSENT
from invert.sheets.sheet import LIST_TIERS

if TYPE_CHECKING:
    from invert.result import Inference, Run

_UNTESTED, UNKNOWN = "n/a", "unknown"
"""Texts of a sheet for which the forward model predicts no price, and of a record without a known true value."""
_MOST_NAMED = 20
"""Maximum number of values in the message for a selection without a match."""


def _no_range(_: "Inference") -> str:
    return NONE


@immutable
class Column:
    """A column of every table of sheets.

    `head` are its two heading lines, `name` is its heading in one line, `also` are other names. `value` [SI] is the CSV value, `text` a
    cell, `span` the text in brackets after it (a range, or the source). Sheets are sorted by `order`, else by `value`. `record` is its
    coverage on some sheets of a run, `models` the population of that record if it is not all. `of` is its quantity and estimator, as in
    JSON. `numbers` are the CSV keys of its numbers.
    """

    key: str
    value: "Callable[[Inference], object]"
    text: "Callable[[Inference], str]"
    span: "Callable[[Inference], str]" = _no_range
    order: "Callable[[Inference], object] | None" = None
    record: "Callable[[Sequence[Inference], Run], str]" = lambda _, __: ""
    models: str = ""
    head: tuple[str, str] = ("", "")
    name: str = ""
    also: tuple[str, ...] = ()
    of: tuple[str, str] = ("", "")
    unit: str = ""
    about: str = ""
    numbers: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """Its name in one line."""
        return self.name or " ".join(filter(None, self.head)) or self.key

    @property
    def lines(self) -> tuple[str, str]:
        """Its name in two lines."""
        return self.head if any(self.head) else ("", self.heading)

    def ordered_by(self, one: "Inference") -> object:
        """Return the sort key of a sheet: a number, a text, or None."""
        found = (self.order or self.value)(one)
        return None if found in ("", ABSENT) else found

    @property
    def explained(self) -> str:
        """Return its name, its key and its meaning, in one line."""
        return f"{self.heading} ({self.key}){f': {self.about}' if self.about else ''}"

    def whole_text(self, one: "Inference") -> str:
        """Return the cell with its range: `45 B (14-150)`."""
        return bracket_range(self.text(one), self.span(one))


def with_range(column: Column) -> Column:
    """Return the column with its range in its cells, under a name of its own."""
    return replace(
        column, key=f"{column.key}_range", head=("", ""), name=f"{column.heading} range", also=(), text=column.whole_text, span=_no_range,
        numbers=tuple(_numbers_of(column)), about=f"{column.about}, with its range",
    )  # fmt: skip


def model_in_words(one: "Inference") -> str:
    """Return the model with its region, and with the service tier unless it is the standard one."""
    tier = one.sheet.service_tier
    return one.sheet.model_and_region + ("" if tier == "standard" else f" ({tier.replace('_', '-')})")


def _input(one: "Inference") -> float:
    return one.sheet.bands[0].input.usd_per_token


def _prices(one: "Inference") -> str:
    """Format input and output: `2/12`, and `.75/3.75`."""
    base = one.sheet.bands[0]
    return "/".join(dollars(price).removeprefix("0") for price in (base.input, base.output))


_PREMIUM_IN, _PREMIUM_OUT = "first_pair.pair.premium_in.value", "first_pair.pair.premium_out.value"
_LECTURE_KV, _JOINT = "first_pair.lecture.values.kv_bytes_per_token", "first_pair.joint.values"


def _at(path: str) -> "Callable[[Inference], Any]":
    """Return a function that reads the value at a path from an inference, or None if a step is missing."""
    return partial(value_at, path=path)


def _premiums(one: "Inference") -> str:
    return "/".join(f"{value_at(one, path):.3g}x" for path in (_PREMIUM_IN, _PREMIUM_OUT)) if one.pairs else ABSENT


def _lecture_size(one: "Inference") -> str:
    """Format the size in the lecture's formula: `at 100 B active`."""
    size = one.anchors.values["active_params"] if one.size_stated else one.assumptions.assumed_active_params
    return NONE if value_at(one, _LECTURE_KV) is None else f"at {billions(size)} active"


def _active_text(one: "Inference") -> str:
    """Format active parameters: three digits if they are stated."""
    if one.active_params.median is None:
        return ABSENT
    return billions(one.active_params.median, 3 if one.size_stated else 2)


def _active_span(one: "Inference") -> str:
    origin = one.anchors.origin["active_params"]
    return size_grade(origin) if one.size_stated else range_text("active_params", one.by_price["active_params"])


def size_grade(origin: str) -> str:
    """Return the source of a size in a word: `given`, `assumed` or `unverified` by its grade, else `stated`."""
    return next((word for word in ("given", "assumed", "unverified") if word in origin), "stated")


def short_kv(value: float | None) -> str:
    """Return KV bytes in kB, to two digits.

    >>> short_kv(1666.7), short_kv(146.5), short_kv(None)
    ('1.7 kB', '0.15 kB', 'none')
    """
    return ABSENT if value is None else f"{plain_digits(value / 1e3)} kB"


# Records, each of the estimator of its column.


def size_of_lecture(assumptions: Assumptions) -> str:
    """Describe the size in KV from threshold: `100 B active parameters unless stated`."""
    return f"{billions(assumptions.assumed_active_params)} active parameters unless stated"


def _commonest(found: Iterable[Estimate]) -> str:
    """Return the most common coverage, `38 of 42`, or a dash if there are no ranges."""
    return _most_common(one.coverage for one in found if one.kind == "interval")


def _most_common(records: Iterable[tuple[int, int] | None]) -> str:
    counts = Counter(records)
    known = Counter({record: count for record, count in counts.items() if record and record[1]})
    if not known:
        return UNKNOWN if counts else NONE
    return "{} of {}".format(*known.most_common(1)[0][0])


def _tier_record(sheets: "Sequence[Inference]", run: "Run", with_stated: bool = False) -> str:
    """Return the record of the rule behind most of these tiers. A stated tier needs none, unless it is read `with_stated` tiers."""
    terms = ([term for of in one.storage if with_stated or not of.disclosed for term in of.evidence] for one in sheets)
    return _most_common(tiers.worst_record(of_sheet, run.tier_rules) for of_sheet in terms if of_sheet)


def _duration_record(_: "Sequence[Inference]", run: "Run") -> str:
    scores = run.tier_rules.scores
    return next((f"{row.right} of {row.answered}" for row in scores if row.rule == tiers.DRAIN_TIMES_OF_LECTURE), UNKNOWN)


# Columns that are made alike.


def _value_column(
    key: str, value: "Callable[[Inference], object] | str", name: str = "", unit: str = "", about: str = "", form: str = "{:.6g}"
) -> Column:
    """Return a column of plain values, by a function or at a path, with a dash for a missing one. `form` is the form of a number."""
    read = _at(value) if isinstance(value, str) else value

    def text(one: "Inference") -> str:
        found = read(one)
        return NONE if found in (None, "") else form.format(found) if isinstance(found, float) else str(found)

    return Column(key=key, value=read, text=text, name=name, unit=unit, about=about)


def _estimate_column(
    quantity: str, estimator: str = "", *, name: str = "", about: str, head: tuple[str, str] = ("", ""), also: tuple[str, ...] = (),
    models: str = "",
) -> Column:  # fmt: skip
    """Return the column of an estimate: value, cells, range, unit and record all follow from it."""

    known = QUANTITIES.get(quantity.replace("_stored", ""))

    def get(one: "Inference") -> Estimate | None:
        return one.named_estimates.get((quantity, estimator))

    return Column(
        key=_key(quantity, estimator), value=lambda one: round_digits(value_at(get(one), "median")),
        text=lambda one: middle_text(quantity, get(one)), span=lambda one: range_text(quantity, get(one)), models=models,
        record=lambda sheets, _: _commonest(found for one in sheets if (found := get(one))),
        head=head, name=name or _key(quantity, estimator).replace("_", " "), also=also, of=(quantity, estimator), about=about,
        unit=known.unit if known and known.unit != "1" else "",
    )  # fmt: skip


def _key(quantity: str, estimator: str) -> str:
    return f"{quantity}_{estimator}" if estimator else quantity


_PARTS = {"low": "low", "high": "high", "kind": "kind", "level": "level", "right": "coverage.0", "of": "coverage.1"}
"""The other numbers of an estimate by the end of their key: its ends, kind, level and record."""


def _parts(column: Column) -> list[Column]:
    """Return the columns of the other numbers of an estimate."""

    def value(one: "Inference", path: str) -> object:
        return round_digits(value_at(one.named_estimates.get(column.of), path))

    return [_value_column(f"{column.key}_{end}", partial(value, path=path)) for end, path in _PARTS.items()]


def _kv(estimator: str, about: str) -> Column:
    """Return the column of KV bytes by an estimator."""
    head, also = _KV_HEADS.get(estimator, (("", ""), ()))
    name = kv_heading(estimator)
    return _estimate_column("kv_bytes_per_token", estimator, name=name, about=f"KV bytes per token {about}", head=head, also=also)


_KV_HEADS = {"from_premium": (("KV from", "premium"), ("KV premium",)), "typical": (("typical", "KV"), ("KV", "typical KV, kB"))}
_ESTIMATES = (
    *(_kv(name, about) for name, about in KV_NAMES.items()),
    _estimate_column("kv_bytes_stored_per_token", "typical", name="typical KV stored", also=("KV stored",),
                     about="KV bytes stored per token of models that were released before"),
    _estimate_column("kv_bytes_stored_per_token", "by_storage_price", name="KV stored by storage price",
                     about="KV bytes stored per token, by the storage price"),
    _estimate_column("active_params", "by_price", about="active parameters by the input price", models="open"),
    _estimate_column("total_params", "by_price", about="total parameters by the input price", models="open"),
    _estimate_column("input_price_cost_ratio", "by_price", name="price/cost", about="input price over its cost on rented chips in full use",
                     also=("mark-up", "markup")),
    _estimate_column("bandwidth_bound_fraction", name="bandwidth-bound fraction", head=("bandwidth", "bound"),
                     about="share of decode time that is bound by memory bandwidth, 1 - 1/(output/input)",
                     also=("bandwidth-bound", "bandwidth bound")),
    _estimate_column("total_params_by_knowledge", models="open",
                     about="total parameters by the score on a benchmark of facts"),
    _estimate_column("total_params_by_price_and_knowledge", models="open",
                     about="total parameters by the input price and that score"),
    _estimate_column("memory_time_share", about="time of memory reads over the time of reads and arithmetic, in decode"),
    _estimate_column("balance_context", about="context at which reading the cache takes as long as arithmetic"),
    _estimate_column("attention_intensity", about="arithmetic of attention over the cache bytes that it reads"),
    _estimate_column("active_params_times_price_cost_ratio", about="active parameters times price/cost", name="active params x price/cost"),
    _estimate_column("batch_multiple", about="batch over the balance batch"),
    _estimate_column("implied_drain_time", about="time for which storing a token costs as much as reading it once"),
)  # fmt: skip
_READINGS = (
    Column(
        key="kv_bytes_per_token_from_threshold", head=("KV from", "threshold"), also=("KV lecture",),
        of=("kv_bytes_per_token", "from_threshold"), value=_at(_LECTURE_KV), text=lambda one: short_kv(value_at(one, _LECTURE_KV)),
        span=_lecture_size, unit="byte/token", record=lambda _, run: run.lecture_error.text if run.lecture_error else UNKNOWN,
        about=f"KV bytes per token by the lecture's formula, N_active*b_w/(rho*L_threshold), at {size_of_lecture(USUAL)}",
    ),
    Column(
        key="kv_bytes_per_token_joint", name="KV joint", value=_at(f"{_JOINT}.kv_bytes_per_token"), unit="byte/token",
        text=lambda one: short_kv(value_at(one, f"{_JOINT}.kv_bytes_per_token")), of=("kv_bytes_per_token", "joint"),
        about="KV bytes per token from output/input and both premiums together, at the central value of every anchor",
    ),
    Column(
        key="kv_bytes_per_token_of_architecture", head=("KV of its", "architecture"), also=("KV known", "known"), unit="byte/token",
        value=_at("known.read"), text=lambda one: short_kv(value_at(one, "known.read")),
        span=lambda one: one.known.grade if one.known else NONE, about="KV bytes per token that a public architecture reads",
    ),
    _value_column("memory_time_share_joint", f"{_JOINT}.memory_time_share", "memory time share, joint",
              about="memory time share that belongs to KV joint"),
    _value_column("balance_context_joint", f"{_JOINT}.balance_context", "balance context, joint", unit="token",
              about="balance context that belongs to KV joint"),
    _value_column("implied_drain_time_s_point", "implied_drain_time.values.implied_drain_time", "implied drain time, point", unit="s",
                  about="time whose storage costs as much as one read, at the central value of every anchor"),
    _value_column("check_lecture", lambda one: verdict(one.pairs[0].lecture_checks) if one.pairs else None, "lecture's check",
              about="whether the forward model at the lecture's readings predicts the other prices"),
    _value_column("check_joint", lambda one: verdict(one.pairs[0].joint_checks) if one.pairs else None, "joint check",
              about="whether the forward model at KV joint predicts the other prices"),
)  # fmt: skip
_PRICES = (
    Column(key="model", value=lambda one: one.sheet.model, text=model_in_words, order=lambda one: one.name,
           about="model id, region and service tier", numbers=("provider", "model", "region", "service_tier")),
    Column(key="sheet", name="provider/model", value=lambda one: one.name, text=lambda one: f"{one.sheet.provider}/{model_in_words(one)}",
           about="provider, model, region and service tier", numbers=("provider", "model", "region", "service_tier")),
    _value_column("provider", "sheet.provider", about="who sells it"),
    _value_column("region", "sheet.region", about="where it is sold, if a price differs by region"),
    _value_column("service_tier", "sheet.service_tier", "service tier", about="standard, batch, off_peak and others"),
    _value_column("as_of", lambda one: one.sheet.as_of.isoformat(), "as of", about="day of the prices"),
    _value_column("currency", "sheet.bands.0.input.currency", about="currency of the price list"),
    Column(key="price", head=("$/Mtok", "in/out"), also=("in/out",), value=_input, text=_prices,
           numbers=("input_price_usd_per_token", "output_price_usd_per_token"), about="price of input and output below any threshold"),
    Column(key="input_price_usd_per_token", name="input USD/Mtok", also=("input_price", "input"), value=_input, unit="USD/token",
           text=lambda one: dollars(one.sheet.bands[0].input), about="input price below any threshold"),
    Column(key="output_price_usd_per_token", name="output USD/Mtok", also=("output_price", "output"), unit="USD/token",
           value=_at("sheet.bands.0.output.usd_per_token"), text=lambda one: dollars(one.sheet.bands[0].output),
           about="output price below any threshold"),
    Column(key="long_context", head=("long", "context"), also=("long",), value=_at(_PREMIUM_OUT), text=_premiums,
           numbers=("long_context_threshold", "premium_in", "premium_out"),
           about="long-context price over the base price, input and output"),
    Column(key="long_context_threshold", name="threshold", value=_at("first_pair.pair.long_context_threshold"), unit="token",
           text=lambda one: show("long_context_threshold", one.pairs[0].pair.long_context_threshold).removesuffix(" tokens")
           if one.pairs else NONE,
           about="prompt length above which long-context prices apply"),
    _value_column("premium_in", _PREMIUM_IN, "premium in", about="long-context input price over the base price", form="{:.3g}x"),
    _value_column("premium_out", _PREMIUM_OUT, "premium out", about="long-context output price over the base price", form="{:.3g}x"),
    _value_column("output_input_ratio", "observables.output_input_ratio.value", "output/input", about="output price over input price",
                  form="{:.3g}"),
    _value_column("cache_read_ratio", "observables.cache_read_ratio.value", "cache read/input", about="cache-read price over input price"),
    Column(key="active_params", head=("active", "params"), name="active parameters",
           also=("active", "active params"), value=_at("anchors.values.active_params"),
           order=lambda one: one.active_params.median, span=_active_span, models="open",
           text=_active_text, numbers=("active_params", "active_params_low", "active_params_high"),
           record=lambda sheets, _: _commonest(one.by_price["active_params"] for one in sheets if not one.size_stated),
           about="active parameters: stated, otherwise from the input price. The record is for the kind of model that most sheets have"),
    _value_column("active_params_origin", "anchors.origin.active_params", "active parameters from",
              about="source of the active parameters: a table or a price"),
    Column(key="cache_tier", head=("cache", "tier"), also=("cache", "tier"), value=tiers.tier_cell, text=tiers.tier_cell,
           record=_tier_record, numbers=("cache_tier_by_price",),
           about="tiers with 90 % probability by the cache prices. no HBM: all tiers but HBM. stated: by the vendor"),
    Column(key="cache_tier_by_price", name="cache tier, by price", also=("tier by price", "tiers_by_price"), text=tiers.tiers_by_price,
           span=tiers.likelihood_by_price, record=partial(_tier_record, with_stated=True),
           value=tiers.tier_codes,
           order=tiers.tiers_by_price,
           about="memory tiers with 90 % probability by the cache prices alone"),
    Column(key="cache_tier_by_duration", name="cache tier, by duration", also=("tier by duration", "tiers_lecture"),
           text=tiers.tiers_by_duration, record=_duration_record,
           value=lambda one: " ".join(f"{tier.ttl_seconds}:{tier.lecture}" for tier in one.tiers) or None,
           about="memory tier whose drain time in the lecture is nearest to the lifetime of the cache. Devices: --full"),
    Column(key="cache_tier_stated", name="cache tier, stated", also=("vendor says", "tiers_stated"),
           value=tiers.stated_tiers, text=tiers.stated_tiers, span=tiers.vendor_words,
           numbers=("cache_tier_by_price",), about="memory tier that the vendor states"),
    Column(key="prices_missed", head=("prices", "missed"), also=("check", "lecture check", "missed"), record=lambda *_: NONE,
           text=lambda one: "{} of {}".format(*found) if (found := value_at(one, "first_pair.missed")) else _UNTESTED,
           value=_at("first_pair.missed.0"),
           order=lambda one: found[0] / found[1] if (found := value_at(one, "first_pair.missed")) else None,
           numbers=("prices_missed", "prices_checked"),
           about="prices that the forward model misses, of those that it predicts and that the lecture's readings do not use. A lower bound"
           " is no prediction"),
    _value_column("prices_checked", "first_pair.missed.1", "prices checked",
              about="how many prices that the lecture's readings do not use the forward model predicts"),
    Column(key="fast_mode", head=("fast", "mode"), value=lambda one: fast_mode_in_brief(one.fast_mode) if one.fast_mode else None,
           text=lambda one: fast_mode_in_brief(one.fast_mode), order=_at("fast_mode.batch_ratio"),
           numbers=("fast_price_ratio", "fast_speed_ratio", "fast_batch_ratio"),
           about="price and stated speed of a fast mode over the standard ones. Sorted by the batch ratio"),
    _value_column("fast_price_ratio", "fast_mode.price_ratio", "fast price ratio",
                  about="price of a fast mode over the standard price"),
    _value_column("fast_speed_ratio", "fast_mode.speed_ratio", "fast speed ratio",
                  about="stated speed of a fast mode over the standard speed"),
    _value_column("fast_batch_ratio", "fast_mode.batch_ratio", "fast batch ratio",
                  about="standard batch over fast-mode batch, if price follows cost"),
    _value_column("flags", lambda one: "; ".join(one.flags) or None, about="remarks to read before using the row"),
)  # fmt: skip
_ALL = (*_PRICES, *_READINGS, *_ESTIMATES)
_ENDS_OF_SIZE = tuple(_value_column(f"active_params_{end}", f"active_params.{end}") for end in ("low", "high"))
REGISTRY: Mapping[str, Column] = {one.key: one for one in (*_ALL, *_ENDS_OF_SIZE, *(part for one in _ESTIMATES for part in _parts(one)))}
"""Every column that there is, by key."""


SHORT_KEYS = (
    "model", "price", "long_context", "kv_bytes_per_token_from_threshold", "kv_bytes_per_token_from_premium", "bandwidth_bound_fraction",
    "cache_tier", "prices_missed", "active_params", "kv_bytes_per_token_typical",
)  # fmt: skip
"""The default table."""
WIDE_KEYS = (
    "provider", "model", "input_price_usd_per_token", "output_price_usd_per_token", "long_context_threshold", "premium_in", "premium_out",
    "output_input_ratio", "active_params_range", "active_params_by_price_range", "input_price_cost_ratio_by_price_range",
    "total_params_by_knowledge_range", "kv_bytes_per_token_from_threshold",
    *(f"kv_bytes_per_token_{estimator}_range" for estimator in KV_NAMES), "kv_bytes_per_token_of_architecture",
    "bandwidth_bound_fraction_range", "cache_tier_by_duration", "cache_tier_by_price_range", "cache_tier_stated_range",
    "prices_missed", "fast_mode", "flags",
)  # fmt: skip
"""`--wide`, and documents."""
MODEL_KEYS = (
    "kv_bytes_per_token_from_threshold", "kv_bytes_per_token_from_premium", "bandwidth_bound_fraction", "cache_tier_by_price",
    "cache_tier_by_duration", "cache_tier_stated", "active_params", "active_params_by_price", "input_price_cost_ratio_by_price",
    "kv_bytes_per_token_typical", "kv_bytes_per_token_of_architecture", "total_params_by_knowledge", "total_params_by_price_and_knowledge",
)  # fmt: skip
"""The rows of `infer MODEL`."""
HISTORY_KEYS = (
    "active_params_by_price", "input_price_cost_ratio_by_price", "kv_bytes_per_token_typical", "kv_bytes_per_token_from_premium",
    "bandwidth_bound_fraction",
)  # fmt: skip
"""The columns of `--history`."""
ESTIMATE_KEYS = tuple(one.key for one in _ESTIMATES)
"""All estimates with a reason: those of a full report."""
CSV_KEYS = (
    "provider", "model", "region", "service_tier", "as_of", "currency", "input_price_usd_per_token", "output_price_usd_per_token",
    "long_context_threshold", "premium_in", "premium_out", "output_input_ratio", "cache_read_ratio", "active_params",
    "active_params_origin", "kv_bytes_per_token_from_threshold", "kv_bytes_per_token_joint", "kv_bytes_per_token_of_architecture",
    *(key for one in _ESTIMATES for key in (one.key, *(part.key for part in _parts(one)))), "memory_time_share_joint",
    "balance_context_joint", "implied_drain_time_s_point", "cache_tier_by_duration", "cache_tier_by_price", "check_lecture", "check_joint",
    "prices_missed", "prices_checked", "fast_price_ratio", "fast_speed_ratio", "fast_batch_ratio", "flags",
)  # fmt: skip
"""The CSV and the frame."""


def flat(one: "Inference", keys: Iterable[str] = CSV_KEYS) -> dict[str, object]:
    """Return one sheet as a flat row in SI units, for the first pair of bands, with None for missing values.

    `currency` is the currency of the price list. The prices are converted to the unit in their key. An estimate has six digits, and a level
    only if similar ranges were compared with the truth.
    """
    return {key: REGISTRY[key].value(one) for key in keys}


def flat_before(one: "Inference", run: "Run") -> dict[str, object] | None:
    """Return the values of a row that changed when prices were set by hand, or None if no price was set."""
    if not run.changes:
        return None
    before, after = flat(run.before[one.key]) if one.key in run.before else {}, flat(one)
    return {name: value for name, value in before.items() if value != after[name]}


def name_of(quantity: str, estimator: str) -> str:
    """Return the printed name of a quantity by an estimator: the heading of its column, if there is one.

    >>> name_of("input_price_cost_ratio", "by_price"), name_of("bayes_factor", "convention"), name_of("probability_hbm", "300")
    ('price/cost', 'convention factor', '5 min in HBM')
    """
    if quantity.startswith("probability_"):
        tier = quantity.removeprefix("probability_")
        return f"{show('ttl', float(estimator)) if estimator.isdigit() else 'storage'} in {TIER_NAMES.get(tier, tier)}"
    if quantity == "bayes_factor":
        return "convention factor"
    return next((one.heading for one in _ALL if one.of == (quantity, estimator)), quantity.replace("_", " "))


def _plain(name: str) -> str:
    """Normalise a name: lower case, with one space between words."""
    return " ".join(re.split(r"[\s_/.,-]+", name.strip().lower()))


@cache
def _columns_by_name() -> dict[str, Column]:
    """Return every column by all of its names. A key has precedence over a heading, and a heading over other names."""
    found: dict[str, Column] = {}
    every = [*REGISTRY.values(), *(with_range(one) for one in _ALL if one.span is not _no_range)]
    for names in (lambda one: (one.key,), lambda one: (one.heading,), lambda one: one.also):
        for column in every:
            for name in names(column):
                found.setdefault(_plain(name), column)
    return found


def column_of(name: str) -> Column:
    """Return the column of a key (also an old one), a heading or another name, in any case. Raises UnknownName with the nearest names."""
    found = _columns_by_name().get(_plain(name)) or REGISTRY.get(new_column_key(name))
    if found is None:
        names = dict.fromkeys(name for column in REGISTRY.values() for name in (column.heading, column.key))
        raise UnknownName("column", name, names, "backsolve infer --explain lists all")
    return found


def csv_names(names: Iterable[str]) -> list[str]:
    """Return the CSV keys of these columns, or all keys if no column is named."""
    wanted = [name.strip().lower() for name in names] or CSV_KEYS
    of_each = ([name] if name in CSV_KEYS else _numbers_of(column_of(name)) for name in wanted)
    return [*dict.fromkeys(name for of in of_each for name in of)]


def _numbers_of(column: Column) -> Sequence[str]:
    if column.numbers:
        return column.numbers
    return [key for key in (column.key, f"{column.key}_low", f"{column.key}_high") if key == column.key or key in CSV_KEYS]


def models_of_record(column: Column, one: "Inference") -> str:
    """Return the population of the record of a size: open or closed models."""
    of = one.by_price["active_params"].record
    return of.of.partition(" ")[0] if of else column.models


def explained(run: "Run") -> list[str]:
    """Return all columns as a table: meaning, key, unit, and how often it was right on the sheets of a run."""
    head = ("column", "right", "what it is")
    first = [REGISTRY[key] for key in SHORT_KEYS]
    rows = []
    for column in dict.fromkeys([*first, *_ALL]):
        record = column.record(run.inferences, run) or NONE
        like = next((one for one in run if column.models and column.record([one], run) == record), None)
        right = f"{record} {models_of_record(column, like)}" if like and record[:1].isdigit() else record
        unit = f" [{column.unit}]" if column.unit else ""
        rows.append((column.heading, right, f"{column.about}. Key: {column.key}{unit}"))
    return [
        aligned(head, rows),
        "In the CSV an estimate KEY also has KEY_low and KEY_high (its range), KEY_kind (given, interval, upper or lower bound, point,"
        " undetermined), KEY_level (the probability of its range), KEY_right and KEY_of (right ranges, and all ranges of this kind)."
        " In a table KEY_range has the number with its range. Right: on models with known architecture, size or tier.",
    ]


def sort_sheets(inferences: Iterable["Inference"], by: str | None) -> list["Inference"]:
    """Sort sheets by price, the most expensive first, or by a column. Numbers are descending, `-` reverses the order, missing values are
    last.
    """
    if by is None:
        return sorted(inferences, key=lambda one: (-_input(one), one.name))
    value = column_of(by.removeprefix("-")).ordered_by
    keys = [(value(one), one) for one in sorted(inferences, key=attrgetter("name"))]
    known = [pair for pair in keys if pair[0] is not None]
    texts = any(isinstance(found, str) for found, _ in known)
    ordered = sorted(known, key=lambda pair: str(pair[0]) if texts else pair[0], reverse=texts == by.startswith("-"))  # type: ignore[arg-type, return-value]
    return [one for _, one in (*ordered, *(pair for pair in keys if pair[0] is None))]


OF_TEXT: "dict[str, Callable[[Inference], Iterable[str]]]" = {
    "provider": lambda one: (one.sheet.provider,),
    "model": lambda one: (one.sheet.model,),
    "region": lambda one: (one.sheet.region or NONE,),
    "tier": lambda one: (one.sheet.service_tier,),
    "currency": lambda one: (one.sheet.bands[0].input.currency,),
    "cache": lambda one: [*tiers.likely_tiers(one), *tiers.tier_cell(one).split(", ")],
    "flag": lambda one: one.flags,
}
"""Values of a sheet for --where. One of them must match."""


def picked(inferences: Iterable["Inference"], wanted: Iterable[str]) -> list["Inference"]:
    """Select the sheets that match every NAME=PATTERN: file-name patterns separated by commas. For flags, a part of the words is enough.

    Raises WrongValue with the possible values if no sheet matches.
    """
    found = list(inferences)
    for text in wanted:
        refuse_unknown_pattern(text)
        name, _, patterns = text.partition("=")
        any_of = [f"*{pattern}*" if name == "flag" else pattern for pattern in filter(None, map(str.strip, patterns.split(",")))]
        texts = [(one, [*OF_TEXT[name](one)]) for one in found]
        found = [one for one, of in texts if any(fnmatchcase(each.lower(), pattern.lower()) for each in of for pattern in any_of)]
        if not found:
            # The nearest values, or the first if none is near.
            there = sorted({each.partition(", ")[0] for _, of in texts for each in of})
            listed = f"; there are: {', '.join(there[:_MOST_NAMED])}{', ...' if len(there) > _MOST_NAMED else ''}" if there else ""
            others = ". --all has the other service tiers" if name == "tier" and {*there} <= {*LIST_TIERS} else ""
            raise WrongValue(f"no sheet matches --where {text}{suggest(patterns, there) or listed}{others}")
    return found


def refuse_unknown_pattern(text: str) -> None:
    """Raise unless a text is NAME=PATTERN with the name of a column."""
    name, equals, patterns = text.partition("=")
    if name not in OF_TEXT:
        raise UnknownName("name in --where", name, OF_TEXT)
    if not equals or not patterns:
        raise WrongValue(f"--where {text}: write {name}=PATTERN, for example provider=openai or model='gpt-6*'")
