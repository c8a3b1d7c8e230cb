"""All sheets at a glance: a line each, the dearest first and those with a price of long context before the others."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from string import ascii_letters
from typing import TypeVar

from derive.characters import padded
from derive.errors import UnknownName, WrongValue, suggest
from derive.show.folding import LEAST_FOR_NAMES, folded, name_beside, name_column, widest_of
from derive.units import show
from invert.records import TIER_NAMES, Estimate
from invert.report.layout import NONE, dollars, two_digits
from invert.report.size import KNOWN_SIZE, how_stated
from invert.report.tiers import worst_record
from invert.result import EXTRAPOLATED, FIRST_PAIR, RELEASE_NOT_KNOWN, WEIGHTS_UNSURE, Inference, Run

SEEN = ("one band", "architecture known")
"""Flags that say what other columns show, or the heading."""
_MORE_BANDS, _UNDATED, _BY_PRICE, _UNSURE, _BEYOND = "+", "*", "~", "?", "^"
"""Marks in cells: behind the first of several thresholds; behind KV bytes of a model whose release nobody says, which are as of the
first day that a table has of it; before a tier that is read from a price and is no vendor's word; behind what is not sure; behind a
size by a price that few open models ask."""
_MARKED = (FIRST_PAIR, RELEASE_NOT_KNOWN, WEIGHTS_UNSURE, EXTRAPOLATED, "KV given")
"""What flags hold that a mark or a word says in the only cell that they qualify."""
_OF_ARCHITECTURE = "architecture "
"""How a flag begins that a mark says behind KV known, and that qualifies a stated size as well."""
_MARKS = {_MORE_BANDS: "more bands", _UNDATED: "undated", _BY_PRICE: "by price", _UNSURE: "unsure", _BEYOND: "extrapolated"}
_MARK_OF_FLAG = {RELEASE_NOT_KNOWN: _UNDATED, WEIGHTS_UNSURE: _UNSURE, EXTRAPOLATED: _BEYOND}
"""The mark that stands for a flag, whose word finds the sheets that have it."""
_ALL = "all"
"""What stands in the place of a letter where every sheet has the flag."""
_SELLER, _CURRENCY = "by ", "priced in "
"""How the flags begin that name a seller, which are explained together, and a currency."""
_OF_PRICES: Set[str] = frozenset({"price", "long", "active", "mark-up", "cache"})
"""The columns of prices, and of what is read from them."""
_QUALIFIED: dict[str, Set[str]] = {
    "KV PRIOR-DOMINATED": {"KV"},
    _OF_ARCHITECTURE: {"active"},
    "context assumed": {"cache"},
    "off-peak": _OF_PRICES | {"model", "sheet"},
    _SELLER: {"model"},
}
"""The columns that flags are of which begin so, where those are others: of what is shown the longest context decides the tier by price
alone, and of one model at two hours nothing else tells which is which."""
_MARKED_COLUMNS = ("long", "active", "KV", "known", "cache")
_OR_MORE = "≥"
"""Before the least of several records."""
_OF_OPEN_MODELS, _OF_DISCLOSED = ("active", "KV"), "cache"
"""The columns whose records are of models of public architecture, and the one whose record is of tiers that a vendor named."""

_MOST_TWINS = 5
"""Models that several sell; with more of them the column of the model names who sells it, too, and no flag does."""

_MOST_NAMED = 20
"""Things to pick by that are named where nothing matches."""

_GAPS = ("  ", " ")
"""Between columns: what is usual, and what spares a column in a narrow terminal."""
_ON_PAGE = 100
"""Columns where there is no terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GlanceColumn:
    """A column of the table: its name, two lines of a head, the text of a cell, what sheets are sorted by, how often such cells held."""

    name: str
    head: tuple[str, str]
    text: Callable[[Inference], str]
    key: Callable[[Inference], float | str | None]
    held: Callable[[Run], str] = lambda _: ""


def _model(one: Inference) -> str:
    return one.sheet.model_and_region + (f" ({one.sheet.service_tier})" if _tier_named(one) else "")


def _tier_named(one: Inference) -> bool:
    """Whether the tier of a sheet stands behind its name."""
    return one.sheet.service_tier not in ("standard", "off_peak")


def _input(one: Inference) -> float:
    return one.sheet.bands[0].input.usd_per_token


def _prices(one: Inference) -> str:
    base = one.sheet.bands[0]
    return f"{dollars(base.input)}/{dollars(base.output)}"


def _long(one: Inference) -> str:
    """`272k 2/1.5`: the threshold, and the premiums of input and output."""
    if not one.pairs:
        return NONE
    pair = one.pairs[0].pair
    start = show("long_context_threshold", pair.long_context_threshold).removesuffix(" tokens")
    return f"{start}{_MORE_BANDS * (len(one.pairs) > 1)} {pair.premium_in.value:.2g}/{pair.premium_out.value:.2g}"


def _threshold(one: Inference) -> float | None:
    return one.pairs[0].pair.long_context_threshold if one.pairs else None


def _active(one: Inference) -> str:
    if one.size_stated:
        return f"{two_digits(one.anchors.values['active_params'] / 1e9)} {how_stated(one)}"
    return _ranged(one.market["active_params"], 1e9, _BEYOND * (EXTRAPOLATED in one.flags))


def _markup(one: Inference) -> str:
    return _ranged(one.market["input_markup"], 1.0) if one.size_stated else NONE


def _markup_in_middle(one: Inference) -> float | None:
    return one.market["input_markup"].median if one.size_stated else None


def _read(one: Inference) -> str:
    found = one.kv_bytes["headline"]
    if found.kind == "given":
        return f"{two_digits((found.median or 0.0) / 1e3)} given"
    return _ranged(found, 1e3, _UNDATED * _undated(one))


def _undated(one: Inference) -> bool:
    return not one.release_known and one.kv_bytes["headline"].kind == "interval"


def _known(one: Inference) -> str:
    """What its architecture reads, with a mark where it is known by the model's name alone; the mark alone where weights may differ."""
    if not one.known:
        return _UNSURE if any(flag.startswith(WEIGHTS_UNSURE) for flag in one.flags) else NONE
    return two_digits(one.known.read / 1e3) + _UNSURE * (one.known.grade != "verified")


def _cache(one: Inference) -> str:
    """The likeliest tier by price, with a question mark where it is not likely in every case; what a vendor says bare."""
    said: list[str] = []
    for of in one.storage:
        if of.disclosed:
            said.append("/".join(TIER_NAMES[tier] for tier in of.agreed))
        elif of.probabilities:
            tier = max(of.probabilities, key=of.probabilities.__getitem__)
            said.append(_BY_PRICE + TIER_NAMES[tier] + _UNSURE * (not of.likely))
    return ", ".join(dict.fromkeys(said)) or NONE


def _ranged(found: Estimate, unit: float, mark: str = "") -> str:
    """`45 14-150`, with a mark `45* 14-150`."""
    if found.kind != "interval" or found.median is None or found.low is None or found.high is None:
        return NONE
    low, median, high = (two_digits(value / unit) for value in (found.low, found.median, found.high))
    return f"{median}{mark} {low}-{high}"


def _sizes_held(table: Run) -> str:
    return _fewest_held(one.market["active_params"] for one in table if one.size_by_price)


def _kv_held(table: Run) -> str:
    return _fewest_held(one.kv_bytes["headline"] for one in table)


def _fewest_held(found: Iterable[Estimate]) -> str:
    """`38 of 42`, the record that ranges here have, and `≥38 of 42` where others held more often; nothing where none has one."""
    records = {one.kept for one in found if one.kind == "interval" and one.kept}
    return _OR_MORE * (len(records) > 1) + "{} of {}".format(*min(records, key=lambda kept: kept[0] / kept[1])) if records else ""


def _tiers_held(table: Run) -> str:
    """`1 of 5`: lifetimes of disclosed tier in which the rule that did worst of those used here was right."""
    terms = (term for one in table for of in one.storage if not of.disclosed for term in of.evidence)
    return "{} of {}".format(*worst) if (worst := worst_record(terms, table.tier_rules)) else ""


_COLUMNS = (
    GlanceColumn(name="model", head=("", "model"), text=_model, key=lambda one: one.name),
    GlanceColumn(name="price", head=("USD/MTok", "in/out"), text=_prices, key=_input),
    GlanceColumn(name="long", head=("long", "context"), text=_long, key=_threshold),
    GlanceColumn(name="active", head=("active, B", "and range"), text=_active, key=lambda one: one.active_params, held=_sizes_held),
    GlanceColumn(name="mark-up", head=("mark-up", "and range"), text=_markup, key=_markup_in_middle),
    GlanceColumn(name="KV", head=("KV read, kB", "and range"), text=_read, key=lambda one: one.kv_bytes["headline"].median, held=_kv_held),
    GlanceColumn(name="known", head=("KV", "known"), text=_known, key=lambda one: one.known.read if one.known else None),
    GlanceColumn(name="cache", head=("priced", "as"), text=_cache, key=_cache, held=_tiers_held),
    GlanceColumn(name="provider", head=("", "provider"), text=lambda one: one.sheet.provider, key=lambda one: one.sheet.provider),
    GlanceColumn(
        name="sheet", head=("", "provider/model"), text=lambda one: f"{one.sheet.provider}/{_model(one)}", key=lambda one: one.name
    ),
)
"""What can be shown and sorted by; all but the last two are shown."""

SHOWN_COLUMNS = tuple(column.name for column in _COLUMNS[:-2])
_NAMES: Set[str] = frozenset({"model", "sheet"})
_WHO_SELLS = {"provider", "sheet"}
_FIRST_TO_GO = ("cache", "mark-up", "long", "price", "known", "active")
"""What is left out for want of width, the first one first: never what qualifies a number beside it."""

OF_TEXT: dict[str, Callable[[Inference], Iterable[str]]] = {
    "provider": lambda one: (one.sheet.provider,),
    "model": lambda one: (one.sheet.model,),
    "region": lambda one: (one.sheet.region or NONE,),
    "tier": lambda one: (one.sheet.service_tier,),
    "currency": lambda one: (one.sheet.bands[0].input.currency,),
    "cache": lambda one: _cache(one).replace("?", "").replace(_BY_PRICE, "").split(", "),
    "flag": lambda one: one.flags,
}
"""What sheets can be picked by, as texts of which one is to match."""


_Sheet = TypeVar("_Sheet", bound=Inference)


def picked(inferences: Iterable[_Sheet], wanted: Iterable[str]) -> list[_Sheet]:
    """The sheets that match every NAME=PATTERN: patterns as of file names, several parted by commas; of flags a part of the words will do.

    WrongValue, with what there is to pick by, where none does.
    """
    found = list(inferences)
    named = _of_named_seller(found)
    for text in wanted:
        refuse_unknown_pattern(text)
        name, _, patterns = text.partition("=")
        any_of = [f"*{pattern}*" if name == "flag" else pattern for pattern in _parted(patterns)]
        texts = [(one, [*(_flags_and_marks(one, named) if name == "flag" else OF_TEXT[name](one))]) for one in found]
        found = [one for one, of in texts if any(fnmatchcase(each.lower(), pattern.lower()) for each in of for pattern in any_of)]
        if not found:
            there = sorted({_kind(each) for _, of in texts for each in of})
            raise WrongValue(f"no sheet matches --where {text}{_offered(patterns, there)}")
    return found


def refuse_unknown_pattern(text: str) -> None:
    """Raises for what is no NAME=PATTERN of a name that sheets can be picked by."""
    name, equals, patterns = text.partition("=")
    if name not in OF_TEXT:
        raise UnknownName("name to pick by", name, OF_TEXT)
    if not equals or not patterns:
        raise WrongValue(f"--where {text}: write {name}=PATTERN, as in provider=openai or model='gpt-6*'")
    if name == "flag" and any(len(pattern) == 1 for pattern in _parted(patterns)):
        raise WrongValue(f"--where {text}: a letter means something else in every table; write its words, as in flag=introductory")


def _parted(patterns: str) -> list[str]:
    """Several patterns in one text."""
    return [pattern.strip() for pattern in patterns.split(",") if pattern.strip()]


def _offered(given: str, there: Sequence[str]) -> str:
    """What can be picked, in a line or two: the nearest of many, else the first."""
    listed = f"; there are: {', '.join(there[:_MOST_NAMED])}{', ...' if len(there) > _MOST_NAMED else ''}"
    return suggest(given, there) or (listed if there else "")


def in_order(inferences: Iterable[_Sheet], by: str | None = None) -> list[_Sheet]:
    """Sheets with a price of long context first and the dearest first; or by a column, numbers from the largest, `-` the other way."""
    if by is None:
        return sorted(inferences, key=lambda one: (not one.pairs, -_input(one), one.name))
    name = by.removeprefix("-")
    key = column_of(name).key
    known = [one for one in inferences if key(one) is not None]
    texts = any(isinstance(key(one), str) for one in known)
    ordered = sorted(sorted(known, key=lambda one: one.name), key=key, reverse=texts == by.startswith("-"))  # type: ignore[arg-type]
    return [*ordered, *(one for one in inferences if key(one) is None)]


def column_of(name: str) -> GlanceColumn:
    """The column of that name, in any case; UnknownName where there is none."""
    by_name = {column.name.lower(): column for column in _COLUMNS}
    if name.strip().lower() not in by_name:
        raise UnknownName("column", name, [column.name for column in _COLUMNS])
    return by_name[name.strip().lower()]


def glance(table: Run, width: int = _ON_PAGE, columns: Sequence[str] = (), by: str | None = None) -> str:
    """One line a sheet in as many columns as fit, and below it what they are and how often ranges like these held."""
    inferences = in_order(table.inferences, by)
    names = [*dict.fromkeys(column_of(name).name for name in columns or SHOWN_COLUMNS)]
    if not columns and len(_shared(inferences)) > _MOST_TWINS:
        # As one cell: the longest of both take a third less room than the longest of each.
        names = ["sheet", *names[1:]]
    gap = _GAPS[0]
    if not columns:
        names, gap = _fitting(table, inferences, names, width)
    letters = _letters(inferences, names)
    head, rows = _lines(table, inferences, names, letters, gap, width)
    if by is None and 0 < (banded := sum(bool(one.pairs) for one in inferences)) < len(inferences):
        rows.insert(banded, "")
    left_out = [name for name in SHOWN_COLUMNS[1:] if name not in names and not columns]
    return "\n".join([*head, *rows, "", folded(_below(table, names, letters, left_out), width)])


def _fitting(table: Run, inferences: Sequence[Inference], names: Sequence[str], width: int) -> tuple[list[str], str]:
    """The columns that fit, and the gap between them, which is narrow before a column is left out.

    They go in one order, so that a wider terminal shows all that a narrower one does. No name takes the place of a column.
    """
    first, *others = zip(*chain(*_texts(table, inferences, names)), strict=True)
    widths = dict(zip(names, (name_column(first, LEAST_FOR_NAMES), *map(widest_of, others)), strict=True))

    def gap_of(kept: Sequence[str]) -> str | None:
        """The widest gap with which these columns fit; None where none does."""
        flags = widest_of(_letters_of(inferences, _letters(inferences, kept)))
        room = width - flags - sum(widths[name] for name in kept)
        return next((gap for gap in _GAPS if len(gap) * (len(kept) - (not flags)) <= room), None)

    kept = [*names]
    for name in _FIRST_TO_GO:
        if gap_of(kept) is None:
            kept.remove(name)
    return kept, gap_of(kept) or _GAPS[-1]


def _texts(table: Run, inferences: Sequence[Inference], names: Sequence[str]) -> tuple[list[tuple[str, ...]], list[list[str]]]:
    """The lines of the head, and a line a sheet, in cells."""
    columns = [column_of(name) for name in names]
    return _heads(table, columns), [[column.text(one) for column in columns] for one in inferences]


def _letters_of(inferences: Sequence[Inference], letters: dict[str, str]) -> list[str]:
    """The flags of each sheet as letters, but for those that all have."""
    named, of_some = _of_named_seller(inferences), {kind: letter for kind, letter in letters.items() if letter != _ALL}
    return ["".join(of_some[kind] for kind in map(_kind, _flags(one, named)) if kind in of_some) for one in inferences]


def _lines(
    table: Run, inferences: Sequence[Inference], names: Sequence[str], letters: dict[str, str], gap: str, width: int
) -> tuple[list[str], list[str]]:
    """The head with its rule, and a line a sheet; its flags as letters at the end, and a name that is too long in a line above."""
    heads, cells = _texts(table, inferences, names)
    first, *others = zip(*heads, *cells, strict=True)
    widths = [widest_of(column) for column in others]

    def after_name(row: Sequence[str], flags: str = "") -> str:
        return "".join(f"{gap}{padded(cell, at)}" for cell, at in zip((*row[1:], flags), (*widths, 0), strict=True)).rstrip()

    flags = _letters_of(inferences, letters)
    rests = [after_name(row, of_row) for row, of_row in zip(cells, flags, strict=True)]
    name = name_column(first, width - widest_of(rests)) if names[0] in _NAMES else widest_of(first)
    head = [name_beside(row[0], after_name(row), name, width).rstrip() for row in heads]
    rows = [name_beside(row[0], rest, name, width).rstrip() for row, rest in zip(cells, rests, strict=True)]
    return [*head, "─" * widest_of("\n".join((*head, *rows)).splitlines())], rows


def _heads(table: Run, columns: Sequence[GlanceColumn]) -> list[tuple[str, ...]]:
    """The two lines of the head, and below them how often what such columns say held where the truth is known."""
    (first, *others), second = zip(*(column.head for column in columns), strict=True)
    heads = [(first or f"prices of {table.as_of}", *others), second]
    held = [column.held(table) for column in columns]
    return [*heads, (held[0] or _what_held(table, columns), *held[1:])] if any(held) else heads


def _what_held(table: Run, columns: Iterable[GlanceColumn]) -> str:
    """What the records in the head of these columns count."""
    of_ranges = any(column.name in _OF_OPEN_MODELS and column.held(table) for column in columns)
    return f"{table.assumptions.level:.0%} held, open models" if of_ranges else "disclosed tiers held"


def _shared(inferences: Iterable[Inference]) -> frozenset[str]:
    """The models that more than one provider here sells."""
    sellers: dict[str, set[str]] = {}
    for one in inferences:
        sellers.setdefault(_model(one), set()).add(one.sheet.provider)
    return frozenset(model for model, of_one in sellers.items() if len(of_one) > 1)


def _of_named_seller(inferences: Iterable[Inference]) -> frozenset[tuple[str, ...]]:
    """The sheets of models that several sell, but for those of which the only maker among these does."""
    offers = [*inferences]
    shared = _shared(offers)
    makers = Counter(_model(one) for one in offers if one.by_maker)
    sold = (one for one in offers if _model(one) in shared and not (one.by_maker and makers[_model(one)] == 1))
    return frozenset(one.key for one in sold)


def _flags(one: Inference, named: Set[tuple[str, ...]]) -> tuple[str, ...]:
    """The flags of a sheet, and who sells it where that is to be named."""
    return (*one.flags, f"{_SELLER}{one.sheet.provider}") if one.key in named else one.flags


def _flags_and_marks(one: Inference, named: Set[tuple[str, ...]]) -> tuple[str, ...]:
    """The same, and what the marks of the table are called."""
    flags = _flags(one, named)
    return (*flags, *(_MARKS[mark] for flag, mark in _MARK_OF_FLAG.items() if any(each.startswith(flag) for each in flags)))


def _kind(flag: str) -> str:
    """A flag without what it says more, as the day on which an introductory price ends."""
    return flag.partition(", ")[0]


def _in_cells(one: Inference, columns: Set[str]) -> list[str]:
    """What flags of a sheet hold that a cell of these columns shows, or another view."""
    known = [_OF_ARCHITECTURE] if "known" in columns else []
    tier = [one.sheet.service_tier.replace("_", "-")] if _tier_named(one) and columns & {"model", "sheet"} else []
    return [*SEEN, *_MARKED, *known, *tier]


def _qualified(flag: str) -> Set[str]:
    """The columns of which a flag says something: those of prices and by prices, unless it is of others."""
    return next((columns for beginning, columns in _QUALIFIED.items() if flag.startswith(beginning)), _OF_PRICES)


def _letters(inferences: Sequence[Inference], names: Iterable[str]) -> dict[str, str]:
    """A letter, or a word where all have it, for every kind of flag that qualifies a column here and that no cell shows."""
    columns = {column_of(name).name for name in names}
    named: Set[tuple[str, ...]] = frozenset() if _WHO_SELLS & columns else _of_named_seller(inferences)
    of_each = [
        dict.fromkeys(
            _kind(flag)
            for flag in _flags(one, named)
            if columns & _qualified(flag) and not any(part in flag for part in _in_cells(one, columns))
        )
        for one in inferences
    ]
    kinds = sorted(dict.fromkeys(kind for of_one in of_each for kind in of_one), key=lambda kind: kind.startswith(_SELLER))
    of_all = {kind: _ALL for kind in kinds if all(kind in of_one for of_one in of_each)}
    return dict(zip((kind for kind in kinds if kind not in of_all), [*ascii_letters, *map(str, range(len(kinds)))], strict=False)) | of_all


def marks_explained(table: Run, columns: Iterable[GlanceColumn]) -> list[str]:
    """What each mark means that stands in a cell of these columns."""
    cells = [column.text(one) for column in columns if column.name in _MARKED_COLUMNS for one in table]
    explained = {**_MARKS, KNOWN_SIZE: "by architecture"}
    return [f"{mark} {means}" for mark, means in explained.items() if any(mark in cell for cell in cells)]


def flags_in_words(inferences: Sequence[Inference], columns: Iterable[GlanceColumn]) -> list[str]:
    """The flags of each sheet, in words; who sells it where that is to be named and has no column."""
    named = frozenset() if any(column.name in _WHO_SELLS for column in columns) else _of_named_seller(inferences)
    return ["; ".join(_flags(one, named)) for one in inferences]


def _below(table: Run, names: Sequence[str], letters: dict[str, str], left_out: Sequence[str]) -> str:
    """What all sheets have, the day and what was changed, what marks and letters mean, and where there is more."""
    columns = [column_of(name) for name in names]
    counted = f"{len(table)} {'sheet' if len(table) == 1 else 'sheets'}"
    of_all = [f"{letter} {kind}" for kind, letter in letters.items() if letter == _ALL]
    day = [] if not columns[0].head[0] else [f"prices of {table.as_of}"]
    changed = [f"what if: {', '.join(f'{place} = {amount}' for place, amount in table.changes.items())}"] if table.changes else []
    of_record = {column.name for column in columns if column.held(table)}
    mixed = _OF_DISCLOSED in of_record and len(of_record) > 1
    in_head = f"In the head: {_what_held(table, columns)}." if columns[0].name in of_record else ""
    legend = [f"{_OR_MORE} or more"] if any(_OR_MORE in column.held(table) for column in columns) else []
    legend += marks_explained(table, columns)
    lettered = {kind: letter for kind, letter in letters.items() if letter != _ALL}
    legend += [f"{letter} {kind.removeprefix(_CURRENCY)}" for kind, letter in lettered.items() if not kind.startswith(_SELLER)]
    sellers = [f"{letter} {kind.removeprefix(_SELLER)}" for kind, letter in lettered.items() if kind.startswith(_SELLER)]
    legend += [f"{_SELLER}{', '.join(sellers)}"] if sellers else []
    gone = f" ({', '.join(left_out)})" if left_out else ""
    said = [
        f"{', '.join([counted, *of_all, *day, *changed])}.",
        in_head,
        f"Held of {_OF_DISCLOSED}: disclosed tiers." if mixed else "",
        f"{'; '.join(legend)}." if legend else "",
        f"More: infer MODEL; --wide{gone}.",
    ]
    return " ".join(filter(None, said))
