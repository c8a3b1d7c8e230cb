"""The table of all sheets, as text: wide in a pipe, narrower in a terminal, never cut."""

from collections.abc import Iterable, Sequence
from statistics import median
from textwrap import fill

from derive.units import show
from invert.inference import ASSUMED_ACTIVE_PARAMS, verdict
from invert.records import Inference, InferenceTable

COLUMNS = (
    "provider", "model", "threshold", "premium in", "premium out", "output/input", "KV lecture", "KV joint", "KV known",
    "bandwidth-bound", "tier by lifetime", "on real devices", "vendor says", "lecture check", "joint check", "flags",
)  # fmt: skip
FIRST_TO_GO = (
    "flags", "on real devices", "vendor says", "premium in", "premium out", "joint check", "provider", "lecture check",
    "tier by lifetime", "bandwidth-bound", "output/input", "threshold",
)  # fmt: skip
NONE = "-"
PARAGRAPH = 120
GAP = 3


def summary(table: InferenceTable, width: int | None = None) -> str:
    """One row a sheet, then the date, the anchors, how to read the columns and what they are worth.

    In a terminal of a `width` the columns that do not fit are left out, and said to be.
    """
    rows = [cells(one) for one in table.inferences]
    columns = fitting(rows, width)
    if "provider" not in columns:
        rows = [_told_apart(row, rows) for row in rows]
    hidden = len(COLUMNS) - len(columns)
    note = [f"{hidden} {'column' if hidden == 1 else 'columns'} left out for want of width; --wide shows all."] if hidden else []
    paragraphs = [fill(text, min(width or PARAGRAPH, PARAGRAPH), break_on_hyphens=False) for text in (*note, *footer(table))]
    return "\n".join([aligned(columns, rows), "", *paragraphs])


def _told_apart(row: dict[str, str], rows: Sequence[dict[str, str]]) -> dict[str, str]:
    """The row with its provider before the model, where another provider sells a model of that name."""
    twins = sum(other["model"] == row["model"] for other in rows) > 1
    return {**row, "model": f"{row['provider']}/{row['model']}"} if twins else row


def fitting(rows: Sequence[dict[str, str]], width: int | None) -> tuple[str, ...]:
    """The columns that fit a width, the least needed left out first; all of them without a width."""
    columns = list(COLUMNS)
    needed = {column: max(len(text) for text in (column, *(row[column] for row in rows))) + GAP for column in COLUMNS}
    for column in FIRST_TO_GO:
        if width is None or sum(needed[name] for name in columns) - GAP <= width:
            break
        columns.remove(column)
    return tuple(columns)


def cells(one: Inference) -> dict[str, str]:
    """One sheet as the text of every column."""
    first = one.pairs[0] if one.pairs else None
    tier = "" if one.sheet.service_tier == "standard" else f" ({one.sheet.service_tier})"
    region = f" [{one.sheet.region}]" if one.sheet.region else ""
    return {
        "provider": one.sheet.provider,
        "model": one.sheet.model + region + tier,
        "threshold": show("long_context_threshold", first.pair.long_context_threshold).removesuffix(" tokens") if first else NONE,
        "premium in": f"x{first.pair.premium_in.value:.3g}" if first else NONE,
        "premium out": f"x{first.pair.premium_out.value:.3g}" if first else NONE,
        "output/input": f"{one.observables.output_input_ratio.value:.3g}",
        "KV lecture": kv(first and first.lecture.values.get("kv_bytes_per_token")),
        "KV joint": "inconsistent" if first and first.joint.problem else kv(first and first.joint.values.get("kv_bytes_per_token")),
        "KV known": kv(one.known and one.known.read),
        "bandwidth-bound": f"{one.bandwidth_bound.values['bandwidth_bound_fraction']:.0%}" if one.bandwidth_bound.values else NONE,
        "tier by lifetime": _tiers(one, "lecture"),
        "on real devices": _tiers(one, "devices"),
        "vendor says": ", ".join(dict.fromkeys(tier.disclosed for tier in one.tiers if tier.disclosed)) or NONE,
        "lecture check": verdict(first.lecture_checks) if first else NONE,
        "joint check": verdict(first.joint_checks) if first else NONE,
        "flags": "; ".join(one.flags),
    }


def kv(value: float | None) -> str:
    """KV bytes per token in the units people use, or a dash."""
    return NONE if value is None else show("kv_bytes_per_token", value, digits=3).removesuffix("/token")


def _tiers(one: Inference, by: str) -> str:
    """`5 min flash, 1 h disk`, by the drain times of the lecture or of real devices."""
    return ", ".join(f"{show('ttl', tier.ttl_seconds)} {getattr(tier, by)}" for tier in one.tiers) or "n/a"


def aligned(columns: Sequence[str], rows: Sequence[dict[str, str]]) -> str:
    """A table in aligned columns; no line is cut and no cell wraps.

    >>> print(aligned(("a", "name"), [{"a": "1", "name": "x"}, {"a": "22", "name": "yy"}]))
    a    name
    ─────────
    1    x
    22   yy
    """
    widths = [max(len(column), *(len(row[column]) for row in rows)) if rows else len(column) for column in columns]

    def line(cells: Iterable[str]) -> str:
        return (" " * GAP).join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()

    rule = "─" * (sum(widths) + GAP * (len(widths) - 1))
    return "\n".join([line(columns), rule, *(line(row[column] for column in columns) for row in rows)])


def footer(table: InferenceTable) -> list[str]:
    """Date and anchors; why the lecture's readings cannot both hold; what the readings are worth, computed here."""
    reading = (
        "How to read it: KV is bytes of cache per token of context. KV lecture takes the threshold as the length where reading"
        " the cache overtakes arithmetic, so below it an output token would cost about as much as an input token."
        f" bandwidth-bound takes the output/input price ratio{_typical_ratio(table)} as the time decode waits for memory, at"
        " every length. Both cannot be true of one model. KV joint uses both premiums and that ratio together. A check holds"
        " a reading against the prices it did not use."
    )
    changed = ", ".join(f"{component} = {amount}" for component, amount in table.changes.items())
    what_if = f" What if: {changed}, in place of the published amounts." if changed else ""
    return [
        f"{_count(table)}, prices of {table.as_of.isoformat()}.{what_if}",
        f"Anchors: {_anchors(table)}.",
        reading,
        worth(table.inferences),
    ]


def worth(inferences: Sequence[Inference]) -> str:
    """One line: how far the readings are from the cache of the models here whose architecture is public."""
    known = [(one.known, one.pairs[0]) for one in inferences if one.known and one.pairs]
    lecture = [truth.read / pair.lecture.values["kv_bytes_per_token"] for truth, pair in known]
    joint = [truth.read / pair.joint.values["kv_bytes_per_token"] for truth, pair in known if pair.joint.values]
    if not lecture or not joint:
        return "Worth: no sheet here has both a long-context band and a public architecture to hold the readings against."
    unsure = sum(truth.grade != "verified" for truth, _ in known)
    by_name = f", {unsure} of them by the model's name only" if unsure else ""
    sheets = "1 sheet" if len(known) == 1 else f"{len(known)} sheets"
    return (
        f"Worth: on {sheets} with two bands and a public architecture (KV known: what decode reads, in bf16{by_name}) the true"
        f" cache is {spread(lecture)} the lecture's reading and {spread(joint)} the joint one: neither is a measurement."
    )


def spread(factors: Sequence[float]) -> str:
    """`44 times (9.8 to 127)`: the median and the ends."""
    ends = f" ({min(factors):.3g} to {max(factors):.3g})" if len(factors) > 1 else ""
    return f"{median(factors):.3g} times{ends}"


def _count(table: InferenceTable) -> str:
    count = len(table.inferences)
    return "1 sheet" if count == 1 else f"{count} sheets"


def _typical_ratio(table: InferenceTable) -> str:
    ratios = [one.observables.output_input_ratio.value for one in table.inferences]
    return f" (median {median(ratios):.3g} here)" if ratios else ""


def _anchors(table: InferenceTable) -> str:
    values = table.anchors.values
    shared = [f"{name} {show(name, value)}" for name, value in values.items() if name != "active_params"]
    if "active_params" in values:
        size = f"active_params {show('active_params', values['active_params'])} (given)"
    else:
        size = f"active_params of the architecture where it is public, else {show('active_params', ASSUMED_ACTIVE_PARAMS)} (assumed)"
    return "; ".join([size, *shared])
