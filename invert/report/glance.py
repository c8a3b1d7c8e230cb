"""All sheets at a glance: a line each, the dearest first and those with a price of long context before the others."""

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from fnmatch import fnmatchcase
from string import ascii_letters

from derive.errors import UnknownName, WrongValue
from derive.show.folding import folded
from derive.units import show
from invert.records import EXTRA_MARKUP, TIER_NAMES, Estimate
from invert.report.findings import ranges_held
from invert.report.layout import NONE, dollars
from invert.report.tiers import record_of_tiers
from invert.result import EXTRAPOLATED, RELEASE_NOT_KNOWN, Inference, Run

SEEN = ("one band", "architecture known", "KV PRIOR-DOMINATED")
"""Flags that say what other columns show, or the line below the table."""
OF_COLUMNS = {EXTRAPOLATED: ("active", "mark-up"), RELEASE_NOT_KNOWN: ()}
"""Flags that qualify what stands in some columns alone; that of the release is a mark in its column."""
UNDATED = "*"
"""Behind KV bytes of a model whose release nobody says: its time is no more than the earliest day that a table has of it."""
UNDATED_LEGEND = f"; {UNDATED} release not known, as of the first day that a table has of it"
BY_PRICE = "~"
"""Before a tier that is read from a price; without it the tier is a vendor's word."""

MOST_TWINS = 5
"""Models that several sell; with more of them who sells what has a column and is no flag."""

GAP = "  "
HEAD_LINES = 3
"""Lines before the first sheet."""
ON_PAGE = 100
"""Columns where there is no terminal."""


@dataclass(frozen=True, slots=True)
class GlanceColumn:
    """A column of the table: its name, two lines of a head, the text of a cell, and by what sheets are sorted."""

    name: str
    head: tuple[str, str]
    text: Callable[[Inference], str]
    key: Callable[[Inference], float | str | None]


def _model(one: Inference) -> str:
    region = f" [{one.sheet.region}]" if one.sheet.region else ""
    tier = "" if one.sheet.service_tier in ("standard", "off_peak") else f" ({one.sheet.service_tier})"
    return one.sheet.model + region + tier


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
    return f"{start} {pair.premium_in.value:.2g}/{pair.premium_out.value:.2g}"


def _threshold(one: Inference) -> float | None:
    return one.pairs[0].pair.long_context_threshold if one.pairs else None


def _active(one: Inference) -> str:
    if one.size_stated:
        return _short(one.anchors.values["active_params"] / 1e9)
    return _ranged(one.market["active_params"], 1e9)


def _markup(one: Inference) -> str:
    found = one.market["input_markup"]
    return f"{_short(found.median)}x" if one.size_stated and found.median else NONE


def _markup_in_middle(one: Inference) -> float | None:
    return one.market["input_markup"].median if one.size_stated else None


def _read(one: Inference) -> str:
    found = one.kv_bytes["headline"]
    if found.kind == "given":
        return f"{_short((found.median or 0.0) / 1e3)} given"
    median, space, ends = _ranged(found, 1e3).partition(" ")
    return f"{median}{UNDATED * _undated(one)}{space}{ends}"


def _undated(one: Inference) -> bool:
    return not one.release_known and one.kv_bytes["headline"].kind == "interval"


def _known(one: Inference) -> str:
    return _short(one.known.read / 1e3) if one.known else NONE


def _cache(one: Inference) -> str:
    """The likeliest tier by price, with a question mark where it is not likely in every case; what a vendor says bare."""
    said: list[str] = []
    for of in one.storage:
        if of.disclosed:
            said.append("/".join(TIER_NAMES[tier] for tier in of.agreed))
        elif of.probabilities:
            tier = max(of.probabilities, key=of.probabilities.__getitem__)
            said.append(BY_PRICE + TIER_NAMES[tier] + "?" * (not of.likely))
    return ", ".join(dict.fromkeys(said)) or NONE


def _ranged(found: Estimate, unit: float) -> str:
    """`45 14-150`."""
    if found.kind != "interval" or found.median is None or found.low is None or found.high is None:
        return NONE
    low, median, high = (_short(value / unit) for value in (found.low, found.median, found.high))
    return f"{median} {low}-{high}"


def _short(value: float) -> str:
    """Two digits, never with an exponent."""
    return f"{float(f'{value:.2g}'):.12g}"


COLUMNS = (
    GlanceColumn("model", ("", "model"), _model, lambda one: one.name),
    GlanceColumn("price", ("USD/MTok", "in/out"), _prices, _input),
    GlanceColumn("long", ("long", "context"), _long, _threshold),
    GlanceColumn("active", ("active, B", "and range"), _active, lambda one: one.active_params),
    GlanceColumn("mark-up", ("over", "cost"), _markup, _markup_in_middle),
    GlanceColumn("KV", ("KV read, kB", "and range"), _read, lambda one: one.kv_bytes["headline"].median),
    GlanceColumn("known", ("KV", "known"), _known, lambda one: one.known.read if one.known else None),
    GlanceColumn("cache", ("priced", "as"), _cache, _cache),
    GlanceColumn("provider", ("", "provider"), lambda one: one.sheet.provider, lambda one: one.sheet.provider),
)
"""What can be shown and sorted by; all but the last are shown."""

SHOWN = tuple(column.name for column in COLUMNS[:-1])
FIRST_TO_GO = ("cache", "mark-up", "long")
"""What is left out for want of width: never what qualifies a number beside it."""

OF_TEXT: dict[str, Callable[[Inference], Iterable[str]]] = {
    "provider": lambda one: (one.sheet.provider,),
    "model": lambda one: (one.sheet.model,),
    "tier": lambda one: (one.sheet.service_tier,),
    "currency": lambda one: (one.sheet.bands[0].input.currency,),
    "cache": lambda one: _cache(one).replace("?", "").replace(BY_PRICE, "").split(", "),
    "flag": lambda one: one.flags,
}
"""What sheets can be picked by, as texts of which one is to match."""


def picked(inferences: Iterable[Inference], wanted: Iterable[str]) -> list[Inference]:
    """The sheets that match every NAME=PATTERN; patterns as of file names, several parted by commas."""
    found = list(inferences)
    for text in wanted:
        name, equals, patterns = text.partition("=")
        if name not in OF_TEXT:
            raise UnknownName("name to pick by", name, OF_TEXT)
        if not equals or not patterns:
            raise WrongValue(f"--where {text}: write {name}=PATTERN, as in provider=openai or model='gpt-6*'")
        any_of = [pattern.strip().lower() for pattern in patterns.split(",")]
        if name == "flag":
            # A flag says more behind its first words, as the day on which an introductory price ends.
            any_of = [f"{pattern}*" for pattern in any_of]
        found = [one for one in found if any(fnmatchcase(of.lower(), pattern) for of in OF_TEXT[name](one) for pattern in any_of)]
    return found


def in_order(inferences: Iterable[Inference], by: str | None = None) -> list[Inference]:
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
    by_name = {column.name.lower(): column for column in COLUMNS}
    if name.strip().lower() not in by_name:
        raise UnknownName("column", name, [column.name for column in COLUMNS])
    return by_name[name.strip().lower()]


def glance(table: Run, width: int = ON_PAGE, columns: Sequence[str] = (), by: str | None = None) -> str:
    """One line a sheet in as many columns as fit, and below it what they are and how often ranges like these held."""
    inferences, names = in_order(table.inferences, by), [*(columns or SHOWN)]
    if not columns and len(_shared(inferences)) > MOST_TWINS:
        names = ["provider", *names]
    letters, gone = _letters(inferences, names), [] if columns else [*FIRST_TO_GO]
    rows = _rows(inferences, names, letters)
    while gone and max(map(len, rows)) > width:
        names.remove(gone.pop(0))
        rows = _rows(inferences, names, letters)
    if by is None and 0 < (banded := sum(bool(one.pairs) for one in inferences)) < len(inferences):
        rows.insert(HEAD_LINES + banded, "")
    left_out = [name for name in SHOWN if name not in names and not columns]
    return "\n".join([*rows, "", *(folded(line, width) for line in _below(table, names, letters, left_out))])


def _rows(inferences: Sequence[Inference], names: Sequence[str], letters: dict[str, str]) -> list[str]:
    """Two lines of head, a rule, and a line a sheet; its flags as letters behind the model, or at the end."""
    columns = [column_of(name) for name in names]
    cells = [[column.text(one) for column in columns] for one in inferences]
    twins = _shared(inferences)
    flags = ["".join(letters[flag] for flag in _flags(one, twins) if flag in letters) for one in inferences]
    lines = [*zip(*(column.head for column in columns), strict=True), *cells]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    printed = [GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in lines]
    with_flags = [f"{line}{GAP}{flag}".rstrip() for line, flag in zip(printed, ["", "", *flags], strict=True)]
    return [*with_flags[:2], "─" * max(map(len, with_flags)), *with_flags[2:]]


def _shared(inferences: Iterable[Inference]) -> frozenset[str]:
    """The models that more than one provider here sells."""
    sellers: dict[str, set[str]] = {}
    for one in inferences:
        sellers.setdefault(_model(one), set()).add(one.sheet.provider)
    return frozenset(model for model, of_one in sellers.items() if len(of_one) > 1)


def _flags(one: Inference, shared: Set[str]) -> tuple[str, ...]:
    """The flags of a sheet, and who sells it where another one sells a model of that name."""
    return (*one.flags, f"by {one.sheet.provider}") if _model(one) in shared else one.flags


def _letters(inferences: Sequence[Inference], names: Iterable[str]) -> dict[str, str]:
    """A letter for every flag that no column shows, and that is not of a column alone which is not there."""
    columns = {column_of(name).name for name in names}
    twins = frozenset() if "provider" in columns else _shared(inferences)
    said = {*SEEN, *(flag for flag, of in OF_COLUMNS.items() if not columns.intersection(of))}
    flags = dict.fromkeys(flag for one in inferences for flag in _flags(one, twins) if flag not in said)
    return dict(zip(flags, [*ascii_letters, *map(str, range(len(flags)))], strict=False))


def _below(table: Run, names: Sequence[str], letters: dict[str, str], left_out: Sequence[str]) -> list[str]:
    """The day and what was changed, what the columns are with their records, and what the letters mean."""
    changed = ", ".join(f"{component} = {amount}" for component, amount in table.changes.items())
    day = f"{len(table)} {'sheet' if len(table) == 1 else 'sheets'}, prices of {table.as_of}{f', what if: {changed}' if changed else ''}."
    told = [day, *(text for name in names if (text := _told(name, table)))]
    flags = [f"{letter} {flag}" for flag, letter in letters.items()]
    more = [f"Left out for want of width: {', '.join(left_out)}"] if left_out else []
    more += ["--wide has every column and what it rests on", "backsolve infer MODEL one sheet"]
    return [" ".join(told), *([f"Flags: {'; '.join(flags)}."] if flags else []), f"{'; '.join(more)}."]


def _told(name: str, table: Run) -> str:
    """What a column is, with how often ranges like its own held; nothing of one that says it by itself."""
    if name == "active":
        by_price = [one.market["active_params"] for one in table if one.size_by_price]
        held = _record(by_price, any(EXTRA_MARKUP in one.because for one in by_price))
        stated = "without a range as stated" if any(one.size_stated for one in table) else ""
        told = "; ".join(filter(None, (f"by the price of input{held}" if by_price else "", stated)))
        return f"Active: {told}." if told else ""
    if name == "KV":
        by_class = [one.kv_bytes["headline"] for one in table if one.kv_bytes["headline"].kind == "interval"]
        if not by_class:
            return ""
        held = _record(by_class, closed=False)
        return f"KV: as models of its time{held}{UNDATED_LEGEND if any(map(_undated, table)) else ''}."
    if name == "mark-up":
        known = any(_markup_in_middle(one) for one in table)
        return "Over cost: input over its cost at rent, where the size is stated." if known else ""
    return _told_of_tiers(table) if name == "cache" else ""


def _told_of_tiers(table: Run) -> str:
    """What a tier is that is read from a price, with its record, and what one is that a vendor says."""
    of_price = [of for one in table for of in one.storage if not of.disclosed and of.probabilities]
    by_price = f"{BY_PRICE} the likeliest tier, ? where a case has it below {table.assumptions.likely_tier:.0%}" if of_price else ""
    by_word = f"without {BY_PRICE} the vendor's word" if any(of.disclosed for one in table for of in one.storage) else ""
    if not by_price and not by_word:
        return ""
    record = record_of_tiers((term for of in of_price for term in of.evidence), table.tier_rules)
    return f"Priced as: {'; '.join(filter(None, (by_price, by_word)))}. {record}".rstrip()


def _record(found: Iterable[Estimate], closed: bool) -> str:
    """`, 90% ranges held 11 of 14 open models, no closed one`: the smallest of the records."""
    kept = [one for one in found if one.kept]
    said = ranges_held(min(kept, key=lambda one: one.kept or (0, 0)), closed) if kept else ""
    return f", {said}" if said else ""
