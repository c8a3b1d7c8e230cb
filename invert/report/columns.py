"""The columns of every table of sheets: what each is called, its cells, what sheets are sorted by, and its record."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import TypeVar

from derive.errors import UnknownName, WrongValue, suggest
from derive.units import show
from invert.assumptions import USUAL, Assumptions
from invert.estimators.names import KV_NAMES
from invert.records import TIER_NAMES, Estimate, count_missed
from invert.report.flat import COLUMNS as CSV_COLUMNS
from invert.report.flat import flat
from invert.report.layout import NONE, billions, dollars, kv, two_digits
from invert.report.size import cell, stated_size
from invert.report.tiers import of_tier, worst_record
from invert.result import Inference, Run

ABSENT, _UNTESTED, _UNKNOWN = "none", "n/a", "unknown"
"""In a cell: the sheet has nothing to read; the forward model says nothing of its prices. In the line of records: never checked."""
_MOST_NAMED = 20
"""Things to pick by that are named where nothing matches."""
_Sheet = TypeVar("_Sheet", bound=Inference)


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetColumn:
    """A column: its key, a head of two lines, other names, the text of a cell, what sheets are sorted by, its record, and what it is.

    `csv` are the columns of CSV that hold its numbers. A column of the CSV has its own name for a key.
    """

    key: str
    head: tuple[str, str]
    name: str = ""
    text: Callable[[Inference], str]
    value: Callable[[Inference], object]
    about: str = ""
    also: tuple[str, ...] = ()
    csv: tuple[str, ...] = ()
    record: Callable[[Run], str] = lambda _: ""

    @property
    def heading(self) -> str:
        """Its name in one line."""
        return self.name or " ".join(filter(None, self.head))

    @property
    def explained(self) -> str:
        """Its name, its key and what it is, in one line."""
        return f"{self.heading} ({self.key}){f': {self.about}' if self.about else ''}"


# Cells.


def model_in_words(one: Inference) -> str:
    """The model with its region, and with the service tier unless it is the standard one."""
    tier = one.sheet.service_tier
    return one.sheet.model_and_region + ("" if tier == "standard" else f" ({tier.replace('_', '-')})")


def _input(one: Inference) -> float:
    return one.sheet.bands[0].input.usd_per_token


def _prices(one: Inference) -> str:
    """`2/12`, and `.75/3.75`."""
    base = one.sheet.bands[0]
    return "/".join(dollars(price).removeprefix("0") if price.usd_per_token else "0" for price in (base.input, base.output))


def _long(one: Inference) -> str:
    """`2x/1.5x`: by how much input and output cost more above the first threshold."""
    if not one.pairs:
        return ABSENT
    pair = one.pairs[0].pair
    return f"{pair.premium_in.value:.2g}x/{pair.premium_out.value:.2g}x"


def _threshold(one: Inference) -> float | None:
    return one.pairs[0].pair.long_context_threshold if one.pairs else None


def _lecture_kv(one: Inference) -> float | None:
    return one.pairs[0].lecture.values.get("kv_bytes_per_token") if one.pairs else None


def short_kv(value: float | None) -> str:
    """KV bytes in kB, to two digits.

    >>> short_kv(1666.7), short_kv(146.5), short_kv(None)
    ('1.7 kB', '0.15 kB', 'none')
    """
    return ABSENT if value is None else f"{two_digits(value / 1e3)} kB"


def _given_kv(one: Inference, estimator: str) -> str:
    found = one.kv_bytes[estimator]
    return short_kv(found.median) + (" given" if found.kind == "given" else "")


def _fraction(one: Inference) -> float | None:
    return one.estimates["bandwidth_bound_fraction"].median


def tiers_in_short(tiers: Sequence[str], of: Sequence[str]) -> str:
    """Some of the memory tiers in a word or two.

    >>> of = ("hbm", "ddr", "flash", "hdd")
    >>> tiers_in_short(of[:2], of), tiers_in_short(of[1:], of), tiers_in_short(of, of)
    ('HBM/DDR', 'no HBM', 'any')
    """
    lacking = [tier for tier in of if tier not in tiers]
    if len(lacking) > 1 or len(of) <= 2:
        return "/".join(TIER_NAMES[tier] for tier in tiers)
    return f"no {TIER_NAMES[lacking[0]]}" if lacking else "any"


def _tier(one: Inference) -> str:
    """The tiers that prices leave, or that the vendor states it."""
    said = [tiers_in_short(of.agreed, [*of.probabilities]) for of in one.storage if of.probabilities and not of.disclosed]
    stated = ["stated"] if any(of.disclosed for of in one.storage) else []
    return ", ".join(dict.fromkeys(stated + said)) or ABSENT


def _likely_tiers(one: Inference) -> list[str]:
    """The tiers that a vendor states, else the likeliest by price."""
    said: list[str] = []
    for of in one.storage:
        if of.disclosed:
            said.append("/".join(TIER_NAMES[tier] for tier in of.agreed))
        elif of.probabilities:
            said.append(TIER_NAMES[max(of.probabilities, key=of.probabilities.__getitem__)])
    return [*dict.fromkeys(said)] or [NONE]


def _checks(one: Inference) -> tuple[int, int] | None:
    return count_missed(one.pairs[0].lecture_checks) if one.pairs else None


def _missed(one: Inference) -> str:
    """`3 of 4`: of the prices that the lecture's readings do not use, those that the forward model misses."""
    found = _checks(one)
    return "{} of {}".format(*found) if found else _UNTESTED


def _share_missed(one: Inference) -> float | None:
    found = _checks(one)
    return found[0] / found[1] if found else None


def _active(one: Inference) -> str:
    value = one.active_params
    return ABSENT if value is None else billions(value)


def kv_range(estimate: Estimate) -> str:
    """`155 kB (42.2 kB to 547 kB)`, `< 312 kB`, `70 kB (given)` or `undetermined`."""
    if estimate.kind == "given":
        return f"{kv(estimate.median)} (given)"
    if estimate.kind == "interval":
        return f"{kv(estimate.median)} ({kv(estimate.low)} to {kv(estimate.high)})"
    return f"< {kv(estimate.high)}" if estimate.kind == "upper" else estimate.kind


def _by_lifetime(one: Inference) -> str:
    """`5 min flash, 1 h disk`, by the lecture's drain times."""
    return ", ".join(f"{show('ttl', tier.ttl_seconds)} {tier.lecture}" for tier in one.tiers) or "n/a"


def _tiers_by_price(one: Inference) -> str:
    """`HBM 47 to 99%`: the likeliest tier by prices over the cases and lifetimes, whatever the vendor says."""
    found: dict[str, list[float]] = {}
    for of in one.storage:
        if of.undisclosed and of.undisclosed_ranges:
            tier = max(of.undisclosed, key=of.undisclosed.__getitem__)
            found.setdefault(tier, []).extend(of.undisclosed_ranges[tier])
    return ", ".join(of_tier(tier, min(ends), max(ends)) for tier, ends in found.items()) or NONE


def _any_text(value: object) -> str:
    return NONE if value in (None, "") else f"{value:.6g}" if isinstance(value, float) else str(value)


# Records, each of the estimator of its column.


def lecture_record(run: Run) -> str:
    """`126x low`: how far the true KV bytes are from the lecture's."""
    if run.lecture_error is None:
        return _UNKNOWN
    times = run.lecture_error.median
    return f"{max(times, 1 / times):.3g}x {'low' if times >= 1 else 'high'}"


def size_of_lecture(assumptions: Assumptions) -> str:
    """`100 B active parameters unless stated`: what KV from threshold takes for the size of a model."""
    return f"{billions(assumptions.assumed_active_params)} active parameters unless stated"


def _commonest(found: Iterable[Estimate]) -> str:
    """`38 of 42`: how many ranges like most of these contained the truth."""
    records = Counter(one.kept for one in found if one.kind == "interval" and one.kept)
    return "{} of {}".format(*records.most_common(1)[0][0]) if records else _UNKNOWN


def _tier_record(run: Run) -> str:
    """The record of the rule that tells most of these tiers."""
    terms = ([term for of in one.storage if not of.disclosed for term in of.evidence] for one in run)
    records = Counter(found for of_sheet in terms if (found := worst_record(of_sheet, run.tier_rules)) and found[1])
    return "{} of {}".format(*records.most_common(1)[0][0]) if records else _UNKNOWN


# The registry.


def _premium(pick: str) -> Callable[[Inference], float | None]:
    return lambda one: getattr(one.pairs[0].pair, pick).value if one.pairs else None


def _times(value: float | None) -> str:
    return NONE if value is None else f"x{value:.3g}"


def _kv_column(estimator: str, heading: str) -> SheetColumn:
    key = f"kv_bytes_per_token_{estimator}"
    return SheetColumn(
        key=f"{key}_range", head=("", f"{heading} range"), text=lambda one: kv_range(one.kv_bytes[estimator]),
        value=lambda one: one.kv_bytes[estimator].median, csv=(key, f"{key}_low", f"{key}_high"),
        about=f"{heading} with its 90 % range, or < a bound", also=(heading,),
    )  # fmt: skip


_SHORT = (
    SheetColumn(
        key="model", head=("", "model"), text=model_in_words, value=lambda one: one.name, about="model id, region and service tier",
        csv=("provider", "model", "region", "service_tier"),
    ),
    SheetColumn(
        key="price", head=("$/Mtok", "in/out"), text=_prices, value=_input, also=("input", "in/out"),
        csv=("input_price_usd_per_token", "output_price_usd_per_token"), about="price of input and output below any threshold, USD/Mtok",
    ),
    SheetColumn(
        key="long_context", head=("long", "context"), text=_long, value=_premium("premium_out"), also=("long",),
        csv=("long_context_threshold", "premium_in", "premium_out"), about="long-context price over the base price, input and output",
    ),
    SheetColumn(
        key="kv_bytes_per_token_lecture", head=("KV from", "threshold"), text=lambda one: short_kv(_lecture_kv(one)), value=_lecture_kv,
        also=("KV lecture",), record=lecture_record,
        about=f"KV bytes per token by the lecture's formula, N_active*b_w/(rho*L_threshold), at {size_of_lecture(USUAL)}",
    ),
    SheetColumn(
        key="kv_bytes_per_token_increment", head=("KV from", "premium"), text=lambda one: _given_kv(one, "increment"),
        value=lambda one: one.kv_bytes["increment"].median, also=("KV increment", "KV premium"),
        record=lambda run: _commonest(one.kv_bytes["increment"] for one in run),
        about="KV bytes per token from the long-context price increments, calibrated on known models",
    ),
    SheetColumn(
        key="bandwidth_bound_fraction", head=("bandwidth", "bound"), name="bandwidth-bound", value=_fraction,
        record=lambda _: _UNKNOWN,
        text=lambda one: ABSENT if (found := _fraction(one)) is None else f"{100 * found:.0f} %",
        about="share of decode time that is bound by memory bandwidth, 1 - 1/(output/input)",
    ),
    SheetColumn(
        key="cache_tier", head=("cache", "tier"), text=_tier, value=lambda one: None if (said := _tier(one)) == ABSENT else said,
        also=("cache", "tier", "priced as"), record=_tier_record, csv=("tiers_by_price",),
        about="memory tiers that cache prices leave at 90 %: any, no HBM (all but it), or stated (record: of the rule that tells most)",
    ),
    SheetColumn(
        key="prices_missed", head=("prices", "missed"), text=_missed, value=_share_missed, also=("check", "lecture check", "missed"),
        record=lambda _: NONE, csv=("prices_missed", "prices_checked"),
        about="prices that the forward model misses, of those that the lecture's readings do not use",
    ),
    SheetColumn(
        key="active_params", head=("active", "params"), text=_active, value=lambda one: one.active_params,
        also=("active", "active parameters", "size"), record=lambda run: _commonest(one.market["active_params"] for one in run),
        about="active parameters: stated, else by the input price (record: open models)",
    ),
    SheetColumn(
        key="kv_bytes_per_token_headline", head=("typical", "KV"), text=lambda one: _given_kv(one, "headline"),
        value=lambda one: one.kv_bytes["headline"].median, also=("KV", "KV read", "typical KV, kB"),
        record=lambda run: _commonest(one.kv_bytes["headline"] for one in run),
        about="KV bytes per token that models released before it read. No price enters",
    ),
)  # fmt: skip
_WIDE_ONLY = (
    SheetColumn(key="provider", head=("", "provider"), text=lambda one: one.sheet.provider, value=lambda one: one.sheet.provider),
    SheetColumn(
        key="sheet", head=("", "provider/model"), text=lambda one: f"{one.sheet.provider}/{model_in_words(one)}",
        value=lambda one: one.name,
        csv=("provider", "model", "region", "service_tier"),
    ),
    SheetColumn(key="input_price", head=("", "input USD/MTok"), text=lambda one: dollars(one.sheet.bands[0].input), value=_input,
           csv=("input_price_usd_per_token",)),
    SheetColumn(key="output_price", head=("", "output USD/MTok"), text=lambda one: dollars(one.sheet.bands[0].output), also=("output",),
           value=lambda one: one.sheet.bands[0].output.usd_per_token, csv=("output_price_usd_per_token",)),
    SheetColumn(
        key="long_context_threshold", head=("", "threshold"), value=_threshold,
        text=lambda one: show("long_context_threshold", at).removesuffix(" tokens") if (at := _threshold(one)) else NONE,
    ),
    SheetColumn(key="premium_in", head=("premium", "in"), text=lambda one: _times(_premium("premium_in")(one)),
                value=_premium("premium_in")),
    SheetColumn(key="premium_out", head=("premium", "out"), text=lambda one: _times(_premium("premium_out")(one)),
           value=_premium("premium_out")),
    SheetColumn(key="output_input_ratio", head=("", "output/input"), text=lambda one: f"{one.observables.output_input_ratio.value:.3g}",
           value=lambda one: one.observables.output_input_ratio.value),
    SheetColumn(key="active_known", head=("active", "known"), text=stated_size, csv=("active_params", "active_params_origin"),
           value=lambda one: one.active_params if one.size_stated else None, about="active parameters as stated, with the grade"),
    SheetColumn(
        key="active_params_market", head=("active", "by price"), text=lambda one: cell("active_params", one.market["active_params"]),
        value=lambda one: one.market["active_params"].median, about="active parameters by the input price, with their 90 % range",
        csv=("active_params_market", "active_params_market_low", "active_params_market_high"),
    ),
    SheetColumn(
        key="input_markup_market", head=("", "price/cost"), text=lambda one: cell("input_markup", one.market["input_markup"]),
        value=lambda one: one.market["input_markup"].median, also=("mark-up", "markup"),
        csv=("input_markup_market", "input_markup_market_low", "input_markup_market_high"),
        about="input price over its cost on rented chips in full use",
    ),
    *(_kv_column(estimator, one.heading) for estimator, one in KV_NAMES.items()),
    SheetColumn(key="kv_bytes_per_token_known", head=("KV", "known"), text=lambda one: kv(one.known.read if one.known else None),
           value=lambda one: one.known.read if one.known else None, also=("known",), about="KV bytes per token of the public architecture"),
    SheetColumn(key="tiers_lecture", head=("tier", "by lifetime"), text=_by_lifetime,
                value=lambda one: _by_lifetime(one) if one.tiers else None,
           also=("tier by duration",), about="memory tier whose drain time is nearest to the lifetime of the cache"),
    SheetColumn(key="tiers_by_price", head=("tier", "by price"), text=_tiers_by_price,
           value=lambda one: None if (said := _tiers_by_price(one)) == NONE else said),
    SheetColumn(
        key="vendor_says", head=("vendor", "says"), csv=("tiers_by_price",), value=lambda one: _stated(one) or None,
        text=lambda one: _stated(one) or NONE,
    ),
    SheetColumn(key="flags", head=("", "flags"), text=lambda one: "; ".join(one.flags), value=lambda one: "; ".join(one.flags) or None),
)  # fmt: skip


def _stated(one: Inference) -> str:
    return ", ".join(dict.fromkeys(tier.disclosed for tier in one.tiers if tier.disclosed))


def _of_csv(name: str) -> SheetColumn:
    """A column of the CSV as a column of the table."""
    return SheetColumn(key=name, head=("", name), text=lambda one: _any_text(flat(one)[name]), value=lambda one: flat(one)[name])


_BY_KEY = {column.key: column for column in (*_SHORT, *_WIDE_ONLY)}
REGISTRY = (*_BY_KEY.values(), *(_of_csv(name) for name in CSV_COLUMNS if name not in _BY_KEY))
"""Every column that there is, those of the default table first, those of the CSV alone last."""
SHORT_KEYS = tuple(column.key for column in _SHORT)
WIDE_KEYS = (
    "provider", "model", "input_price", "output_price", "long_context_threshold", "premium_in", "premium_out", "output_input_ratio",
    "active_known", "active_params_market", "input_markup_market", "kv_bytes_per_token_lecture",
    *(f"kv_bytes_per_token_{estimator}_range" for estimator in KV_NAMES), "kv_bytes_per_token_known", "bandwidth_bound_fraction",
    "tiers_lecture", "tiers_by_price", "vendor_says", "prices_missed", "flags",
)  # fmt: skip


def _plain(name: str) -> str:
    """A name without capitals, and with one space in the place of what parts its words."""
    return " ".join(re.split(r"[\s_/.,-]+", name.strip().lower()))


@cache
def _by_name() -> dict[str, SheetColumn]:
    """Every column by all of its names. A key goes before a heading, and a heading before other names."""
    found: dict[str, SheetColumn] = {}
    for names in (lambda one: (one.key,), lambda one: (one.heading,), lambda one: one.also):
        for column in REGISTRY:
            for name in names(column):
                found.setdefault(_plain(name), column)
    return found


def column_of(name: str) -> SheetColumn:
    """Return the column of a key, a heading or another name, in any case. Raise UnknownName with the nearest names if there is none."""
    found = _by_name().get(_plain(name))
    if found is None:
        names = dict.fromkeys(name for column in REGISTRY for name in (column.heading, column.key))
        raise UnknownName("column", name, names, "backsolve infer --explain lists all")
    return found


def csv_names(names: Iterable[str]) -> list[str]:
    """Return the columns of CSV that these columns stand for, all of them if none is named."""
    wanted = [name.strip().lower() for name in names] or CSV_COLUMNS
    of_each = ([name] if name in CSV_COLUMNS else (column := column_of(name)).csv or [column.key] for name in wanted)
    return [*dict.fromkeys(name for of in of_each for name in of)]


def explained() -> str:
    """Return a line for each column with its name, its key and what it is; then the keys of the CSV alone."""
    rows = [one.explained for one in REGISTRY if one.key in _BY_KEY]
    return "\n".join([*rows, f"Also, as in the CSV: {', '.join(one.key for one in REGISTRY if one.key not in _BY_KEY)}"])


# Order and choice of sheets.


def in_order(inferences: Iterable[_Sheet], by: str | None = None) -> list[_Sheet]:
    """The dearest sheets first; or by a column, numbers from the largest, `-` the other way, and what has no value last."""
    if by is None:
        return sorted(inferences, key=lambda one: (-_input(one), one.name))
    value = column_of(by.removeprefix("-")).value
    valued = [(value(one), one) for one in inferences]
    known = sorted((pair for pair in valued if pair[0] not in (None, "")), key=lambda pair: pair[1].name)
    texts = any(isinstance(found, str) for found, _ in known)
    ordered = sorted(known, key=lambda pair: str(pair[0]) if texts else pair[0], reverse=texts == by.startswith("-"))  # type: ignore[arg-type, return-value]
    return [one for _, one in (*ordered, *(pair for pair in valued if pair[0] in (None, "")))]


OF_TEXT: dict[str, Callable[[Inference], Iterable[str]]] = {
    "provider": lambda one: (one.sheet.provider,),
    "model": lambda one: (one.sheet.model,),
    "region": lambda one: (one.sheet.region or NONE,),
    "tier": lambda one: (one.sheet.service_tier,),
    "currency": lambda one: (one.sheet.bands[0].input.currency,),
    "cache": _likely_tiers,
    "flag": lambda one: one.flags,
}
"""What sheets can be picked by, as texts of which one is to match."""


def picked(inferences: Iterable[_Sheet], wanted: Iterable[str]) -> list[_Sheet]:
    """The sheets that match every NAME=PATTERN: patterns as of file names, several parted by commas; of flags a part of the words will do.

    WrongValue, with what there is to pick by, where none does.
    """
    found = list(inferences)
    for text in wanted:
        refuse_unknown_pattern(text)
        name, _, patterns = text.partition("=")
        any_of = [f"*{pattern}*" if name == "flag" else pattern for pattern in _parted(patterns)]
        texts = [(one, [*OF_TEXT[name](one)]) for one in found]
        found = [one for one, of in texts if any(fnmatchcase(each.lower(), pattern.lower()) for each in of for pattern in any_of)]
        if not found:
            there = sorted({each.partition(", ")[0] for _, of in texts for each in of})
            raise WrongValue(f"no sheet matches --where {text}{_offered(patterns, there)}")
    return found


def refuse_unknown_pattern(text: str) -> None:
    """Raises for what is no NAME=PATTERN of a name that sheets can be picked by."""
    name, equals, patterns = text.partition("=")
    if name not in OF_TEXT:
        raise UnknownName("name to pick by", name, OF_TEXT)
    if not equals or not patterns:
        raise WrongValue(f"--where {text}: write {name}=PATTERN, as in provider=openai or model='gpt-6*'")


def _parted(patterns: str) -> list[str]:
    """Several patterns in one text."""
    return [pattern.strip() for pattern in patterns.split(",") if pattern.strip()]


def _offered(given: str, there: Sequence[str]) -> str:
    """What can be picked, in a line or two: the nearest of many, else the first."""
    listed = f"; there are: {', '.join(there[:_MOST_NAMED])}{', ...' if len(there) > _MOST_NAMED else ''}"
    return suggest(given, there) or (listed if there else "")
