"""The table of all sheets, as text: the columns that fit, no cell cut."""

from collections.abc import Mapping, Sequence
from string import ascii_letters

from derive.show.folding import folded
from derive.units import show
from invert.assumptions import FACTS
from invert.estimators.names import KV_NAMES
from invert.records import Counted, Estimate, verdict
from invert.report.glance import in_order
from invert.report.layout import GAP, NONE, aligned, count_in_words, dollars, kv
from invert.report.size import cell, record_in_words, stated_size
from invert.report.tiers import BETWEEN, of_tier, record_of_tiers
from invert.result import Inference, Run

WIDEST = 100
"""Columns of a paragraph; a table may be wider."""
TABLE_COLUMNS = (
    "provider", "model", "input USD/MTok", "output USD/MTok", "threshold", "premium in", "premium out", "output/input",
    "active known", "active by price", "mark-up", "KV lecture",
    *(one.heading for one in KV_NAMES.values()), "KV known", "bandwidth-bound", "tier by lifetime", "tier by price", "vendor says",
    "lecture check", "flags",
)  # fmt: skip
_BESIDE_HEADLINE = tuple(one.heading for name, one in KV_NAMES.items() if name != "headline")
_FIRST_TO_GO = (
    "flags", "active known", "tier by lifetime", "vendor says", "premium in", "premium out", "provider", "lecture check", "tier by price",
    *_BESIDE_HEADLINE[:0:-1], "bandwidth-bound", "output/input", _BESIDE_HEADLINE[0], "mark-up", "threshold", "KV lecture", "KV known",
    "output USD/MTok", "input USD/MTok", "active by price",
)  # fmt: skip


def summary(table: Run, width: int | None = None, by: str | None = None) -> str:
    """One row a sheet in the order of the glance, then the date, the anchors, how to read the columns and what they are worth.

    Columns that do not fit a `width` are left out, and said to be. Flags qualify numbers: they stay, as letters.
    """
    rows = [cells(one) for one in in_order(table.inferences, by)]
    legend: list[str] = []
    columns, kept = fitting(rows, width), ""
    if "flags" not in columns and any(row["flags"] for row in rows):
        (rows, legend), kept = _lettered(rows), "flags"
        columns = fitting(rows, width, kept)
    if "provider" not in columns:
        rows = [_told_apart(row, rows) for row in rows]
        columns = tuple(column for column in fitting(rows, width, kept) if column in columns)
    if "active known" not in columns:
        rows = [_sized(row) for row in rows]
        legend.append("A size with a word in brackets is one that somebody states.")
    hidden = len(TABLE_COLUMNS) - len(columns)
    note = [f"{hidden} {'column' if hidden == 1 else 'columns'} left out for want of width; --wide shows all."] if hidden else []
    paragraphs = [folded(text, min(width or WIDEST, WIDEST)) for text in (*note, *legend, *footer(table))]
    return "\n".join([aligned(columns, rows), "", *paragraphs])


def _lettered(rows: Sequence[dict[str, str]]) -> tuple[list[dict[str, str]], list[str]]:
    """The rows with a letter for every flag, and what the letters mean."""
    of_row = [[flag for flag in row["flags"].split("; ") if flag] for row in rows]
    of_all = [flag for flag in of_row[0] if len(rows) > 1 and all(flag in flags for flags in of_row)]
    flags = dict.fromkeys(flag for one in of_row for flag in one if flag not in of_all)
    letters = dict(zip(flags, [*ascii_letters, *map(str, range(len(flags)))], strict=False))
    lettered = [row | {"flags": " ".join(letters[flag] for flag in one if flag in letters)} for row, one in zip(rows, of_row, strict=True)]
    said = [*(f"all: {flag}" for flag in of_all), *(f"{letter} {flag}" for flag, letter in letters.items())]
    return lettered, [f"Flags: {'; '.join(said)}."]


def _told_apart(row: dict[str, str], rows: Sequence[dict[str, str]]) -> dict[str, str]:
    """The row with its provider before the model, where another provider sells a model of that name."""
    twins = sum(other["model"] == row["model"] for other in rows) > 1
    return {**row, "model": f"{row['provider']}/{row['model']}"} if twins else row


def _sized(row: dict[str, str]) -> dict[str, str]:
    """The row with the size that somebody states in the place of the one by price, where the column of those went."""
    return row if row["active known"] == NONE else {**row, "active by price": row["active known"]}


def fitting(rows: Sequence[dict[str, str]], width: int | None, kept: str = "") -> tuple[str, ...]:
    """The columns that fit a width, the least needed left out first, one `kept` all the same; all of them without a width."""
    columns = list(TABLE_COLUMNS)
    needed = {column: max(len(text) for text in (column, *(row[column] for row in rows))) + GAP for column in TABLE_COLUMNS}
    for column in (column for column in _FIRST_TO_GO if column != kept):
        if width is None or sum(needed[name] for name in columns) - GAP <= width:
            break
        columns.remove(column)
    return tuple(columns)


def cells(one: Inference) -> dict[str, str]:
    """One sheet as the text of every column."""
    first = one.pairs[0] if one.pairs else None
    tier = "" if one.sheet.service_tier == "standard" else f" ({one.sheet.service_tier})"
    return {
        "provider": one.sheet.provider,
        "model": one.sheet.model_and_region + tier,
        "input USD/MTok": dollars(one.sheet.bands[0].input),
        "output USD/MTok": dollars(one.sheet.bands[0].output),
        "threshold": show("long_context_threshold", first.pair.long_context_threshold).removesuffix(" tokens") if first else NONE,
        "premium in": f"x{first.pair.premium_in.value:.3g}" if first else NONE,
        "premium out": f"x{first.pair.premium_out.value:.3g}" if first else NONE,
        "output/input": f"{one.observables.output_input_ratio.value:.3g}",
        "active known": stated_size(one),
        "active by price": cell("active_params", one.market["active_params"]),
        "mark-up": cell("input_markup", one.market["input_markup"]),
        "KV lecture": kv(first.lecture.values.get("kv_bytes_per_token") if first else None),
        **{KV_NAMES[estimator].heading: kv_range(estimate) for estimator, estimate in one.kv_bytes.items()},
        "KV known": kv(one.known.read if one.known else None),
        "bandwidth-bound": f"{one.bandwidth_bound.values['bandwidth_bound_fraction']:.0%}" if one.bandwidth_bound.values else NONE,
        "tier by lifetime": _tiers(one),
        "tier by price": _tiers_by_price(one) or NONE,
        "vendor says": ", ".join(dict.fromkeys(tier.disclosed for tier in one.tiers if tier.disclosed)) or NONE,
        "lecture check": verdict(first.lecture_checks) if first else NONE,
        "flags": "; ".join(one.flags),
    }


def kv_range(estimate: Estimate) -> str:
    """`155 kB (42.2 kB to 547 kB)`, `< 312 kB`, `70 kB (given)` or `undetermined`."""
    if estimate.kind == "given":
        return f"{kv(estimate.median)} (given)"
    if estimate.kind == "interval":
        return f"{kv(estimate.median)} ({kv(estimate.low)} to {kv(estimate.high)})"
    return f"< {kv(estimate.high)}" if estimate.kind == "upper" else estimate.kind


def _tiers(one: Inference) -> str:
    """`5 min flash, 1 h disk`, by the lecture's drain times."""
    return ", ".join(f"{show('ttl', tier.ttl_seconds)} {tier.lecture}" for tier in one.tiers) or "n/a"


def _tiers_by_price(one: Inference) -> str:
    """`HBM 47 to 99%`: the likeliest tier by prices over the cases and lifetimes, whatever the vendor says."""
    found: dict[str, list[float]] = {}
    for of in one.storage:
        if of.undisclosed and of.undisclosed_ranges:
            tier = max(of.undisclosed, key=of.undisclosed.__getitem__)
            found.setdefault(tier, []).extend(of.undisclosed_ranges[tier])
    return ", ".join(of_tier(tier, min(ends), max(ends)) for tier, ends in found.items())


def footer(table: Run) -> list[str]:
    """Date and anchors; why the lecture's readings cannot both hold; what the readings are worth, computed here."""
    of_premium = [one for one in KV_NAMES.values() if one.paid_with]
    reading = (
        "How to read it: KV is bytes of cache per token of context. KV lecture takes the threshold as the length where reading"
        " the cache overtakes arithmetic, so below it an output token would cost about as much as an input token."
        f" bandwidth-bound takes the output/input price ratio{_typical_ratio(table)} as the time decode waits for memory, at"
        f" every length. Both cannot be true of one model. {_listed([one.heading for one in of_premium])} hold the premium to be paid for"
        f" {_listed([f'with {one.paid_with}' for one in of_premium])}; < is a bound. {_headline(table)}"
        " backsolve infer MODEL says why, and how firmly."
    )
    return [
        f"{count(table)}, prices of {table.as_of.isoformat()}.{_what_if(table)}",
        f"Anchors: {_anchors(table)}{_mean_contexts(table)}.{_rests_on(table)}",
        reading,
        *_size(table),
        *_storage(table),
        worth(table),
    ]


def _what_if(table: Run) -> str:
    """The prices that were set by hand, those in place of published ones first."""
    added = [place for place in table.changes if all(one.adds(place) for one in table.inferences)]
    kinds = {
        "in place of the published amounts": [place for place in table.changes if place not in added],
        "where none is published": added,
    }
    said = [f"{', '.join(f'{place} = {table.changes[place]}' for place in places)}, {kind}" for kind, places in kinds.items() if places]
    return f" What if: {'; '.join(said)}." if said else ""


def _size(table: Run) -> list[str]:
    """What the sizes rest on, and what estimates like them have got right."""
    records = [one.market["active_params"].record for one in table.inferences if one.size_by_price]
    if not records:
        return []
    # A size beyond the prices that are learned from has none.
    record = next(filter(None, records), None)
    right = f" {record_in_words(record).capitalize()}; no closed one is among them." if record else ""
    return [
        "Size: active by price is what open models of that input price have, less a mark-up of closed vendors that is a stated prior;"
        " a size that somebody states is active known;"
        f" the mark-up is input over its cost at rent.{right}"
    ]


def _storage(table: Run) -> list[str]:
    """What the range of a tier is over, and which sheets here say one thing together."""
    if not any(one.storage for one in table.inferences):
        return []
    here = {(one.sheet.provider, one.sheet.model) for one in table.inferences if one.storage}
    shared = [(of.provider, sum((of.provider, model) in here for model in of.models)) for of in table.shared_tariffs]
    groups = _listed([f"{count} of {provider}" for provider, count in shared if count > 1])
    once = f" Sheets of one tariff are counted once: {groups}." if groups else ""
    record = record_of_tiers((term for one in table.inferences for of in one.storage for term in of.evidence), table.tier_rules)
    by_price = f"Tier: by price is the likeliest memory tier with its least and its most {BETWEEN} of hardware prices."
    return [f"{by_price}{' ' if record else ''}{record}{once}"]


def _headline(table: Run) -> str:
    if "kv_bytes_per_token" not in table.given:
        return f"The headline is {KV_NAMES['headline'].heading}: {_class_in_words(table)}"
    said = f"KV is given, {kv(table.given['kv_bytes_per_token'])}: that is the headline"
    estimated = [one.heading for name, one in KV_NAMES.items() if any(of.kv_bytes[name].kind != "given" for of in table.inferences)]
    alone = f"{_listed(estimated)} alone {'is' if len(estimated) == 1 else 'are'} estimated"
    return f"{said}, and of the {count_in_words(len(KV_NAMES))} {alone}." if estimated else f"{said}."


def _listed(words: Sequence[str]) -> str:
    """`this, that, and the other`."""
    return ", ".join([*words[:-1], f"and {words[-1]}"]) if len(words) > 1 else "".join(words)


def worth(table: Run) -> str:
    """How far the lecture's reading and the estimates are from the caches of the models here whose architecture is public."""
    found = table.held_here
    if found.times_lecture is None:
        return "Worth: no sheet here has both a long-context band and a public architecture to hold the readings against."
    by_name = f", {found.unsure} of them by the model's name only" if found.unsure else ""
    sheets, times = ("1 sheet" if found.sheets == 1 else f"{found.sheets} sheets"), found.times_lecture
    ends = f" ({times.low:.3g} to {times.high:.3g})" if found.sheets > 1 else ""
    ranges, bounds = _listed_counts(found.ranges), _listed_counts(found.bounds)
    by_ranges = f" Ranges here that hold the true cache: {ranges}" if ranges else ""
    by_bounds = f"; bounds that do, on sheets without a premium: {bounds}{_loose(table.inferences)}" if bounds else ""
    return (
        f"Worth: on {sheets} with two bands and a public architecture (KV known: what decode reads, in bf16{by_name}) the true"
        f" cache is {times.median:.3g} times{ends} the lecture's reading: that reading is low by a large factor.{by_ranges}{by_bounds}."
    )


def _listed_counts(found: Mapping[str, Counted]) -> str:
    """`at rent 1 of 6, increment 5 of 6`; nothing where there are none."""
    return ", ".join(f"{KV_NAMES[name].heading.removeprefix('KV ')} {of.held} of {of.count}" for name, of in found.items())


def _loose(inferences: Sequence[Inference]) -> str:
    """How far above the true cache a bound by price lies, here or not."""
    of = next((one.kv_bytes["at_rent"].bounds for one in inferences if one.kv_bytes["at_rent"].bounds), None)
    if of is None:
        return ""
    return (
        f" (KV at rent, on {of.count} such sheets of known cache: {of.median:.3g} times ({of.least:.3g} to {of.most:.3g}) it,"
        f" held {of.held} of {of.count} in bf16, {of.held_at_one_byte} at one byte)"
    )


def _class_in_words(table: Run) -> str:
    """What the headline is, and what such ranges have held."""
    of_released, of_others = (
        {one.kv_bytes["headline"].kept for one in table.inferences if one.release_known is known} - {None} for known in (True, False)
    )
    since, held = table.assumptions.horizon_chosen_before, []
    held += [f" Of {count} models released since {since} such ranges held {right}." for right, count in filter(None, of_released)]
    held += [
        f" Where a release is not known the class is of the earliest day that a table has: of {count} such models the class of"
        f" {table.as_of} held {right}."
        for right, count in filter(None, of_others)
    ]
    return f"what models released before it have, the younger the more.{''.join(held)}"


def count(table: Run) -> str:
    """`34 sheets`."""
    return "1 sheet" if len(table) == 1 else f"{len(table)} sheets"


def _typical_ratio(table: Run) -> str:
    return f" (median {table.typical_ratio:.3g} here)" if table.typical_ratio else ""


def _mean_contexts(table: Run) -> str:
    """The rule for what was not given, as shares."""
    shares = {
        "short_context": "{:.2g} of the first threshold",
        "long_context": "{:.2g} of the way through each band above it",
    }
    return "".join(f"; {name} {text.format(table.mean_contexts[name])}" for name, text in shares.items() if name in table.mean_contexts)


def _rests_on(table: Run) -> str:
    """Which of the anchors the headline rests on, as the estimates themselves say."""
    names = {name for one in table.inferences for name in one.kv_bytes["headline"].anchors} - {"kv_bytes_per_token"}
    if "kv_bytes_per_token" in table.given or not table.inferences:
        return ""
    headline = " and ".join(name for name in FACTS if name in names) or "none"
    return f" Of these the headline rests on {headline}. What is not given, ranges draw from priors."


def _anchors(table: Run) -> str:
    values = table.anchors.values
    shared = [f"{name} {show(name, value)}" for name, value in values.items() if name != "active_params"]
    if "active_params" in values:
        size = f"active_params {show('active_params', values['active_params'])} (given)"
    else:
        assumed = show("active_params", table.assumptions.assumed_active_params)
        size = f"active_params of the architecture where it is public, else by price (KV lecture: {assumed}, as the lecture has it)"
    return "; ".join([size, *shared])
