"""One sheet on one screen: what to take home, its prices, what is known of KV bytes, and why it is not known more firmly."""

from collections.abc import Iterator

from invert.estimators.names import KV_NAMES
from invert.records import EXTRA_MARKUP, Estimate
from invert.report.commands import infer_in_full
from invert.report.findings import estimate_text, held_in_words, premium_in_words
from invert.report.glance import SEEN
from invert.report.layout import NONE, Table, aligned, kv, laid_out, two_digits
from invert.report.prices import also_sold, grades_and_page, price_table, unit_of_prices
from invert.report.sheet import cited_by, heading
from invert.report.size import BY_ARCHITECTURE, KNOWN_SIZE, how_stated
from invert.report.take_home import headlines
from invert.report.tiers import deciding_source, record_of_tiers
from invert.result import EXTRAPOLATED, RELEASE_NOT_KNOWN, Inference, Run

MOST_PRICES = 7
"""Rows of prices that are shown."""


_SAID = (*SEEN, RELEASE_NOT_KNOWN, EXTRAPOLATED)
"""Flags that other lines of the screen put into words."""


def short_report(one: Inference, table: Run, width: int = 100) -> str:
    """The sheet on one screen of so many columns: what to take home first."""
    return laid_out(short_parts(one, table), width)


def short_parts(one: Inference, table: Run) -> list[str]:
    """The same as paragraphs and tables."""
    read = (*one.kv_bytes.values(), one.estimates["bandwidth_bound_fraction"])
    shown = dict.fromkeys(id for found in read for id in found.equations[-1:])
    beside = [text] if (text := also_sold(one, table)) else []
    return [
        *(*heading(one, table), "", *headlines(one), ""),
        *(price_table(one, unit_of_prices(one), MOST_PRICES), grades_and_page(one), *beside, ""),
        *(kv_table(one), ""),
        *(*reasons(one, table), _more(one, table), cited_by(one, table, shown)),
    ]


def after_change(one: Inference, table: Run) -> list[str]:
    """What to take home of a sheet beside what moved, which takes most of a screen, and where all of it stands."""
    return [*heading(one, table), "", *headlines(one), "", _more(one, table)]


def _more(one: Inference, table: Run) -> str:
    return f"more  {infer_in_full(one, table)}"


def kv_table(one: Inference) -> Table:
    """What every estimator makes of KV bytes, the lecture's reading, and the truth where it is known."""
    level = next((found.level for found in one.kv_bytes.values() if found.level), None)
    within = f"{level:.0%} range" if level else "range"
    rows = [_row(KV_NAMES[key].name, estimate) for key, estimate in one.kv_bytes.items()]
    lecture = one.pairs[0].lecture.values.get("kv_bytes_per_token") if one.pairs else None
    rows += [_point("the lecture's reading", lecture)] if lecture else []
    rows += [_point(f"its architecture ({one.known.grade})", one.known.read)] if one.known else []
    shown = [{within if name == "range" else name: cell for name, cell in row.items()} for row in rows]
    return aligned(tuple(shown[0]), shown)


def _row(label: str, found: Estimate) -> dict[str, str]:
    ends = f"{kv(found.low)} to {kv(found.high)}" if found.kind == "interval" else estimate_text("kv_bytes_per_token", found)
    return {**_point(label, found.median), "range": ends, "held": held_in_words(found)}


def _point(label: str, value: float | None) -> dict[str, str]:
    return {"KV bytes per token": label, "median": kv(value), "range": NONE, "held": NONE}


def reasons(one: Inference, table: Run) -> Iterator[str]:
    """What the numbers rest on, and why they are not known more firmly, a sentence a line."""
    active, markup, read = one.market["active_params"], one.market["input_markup"], one.kv_bytes["headline"]
    if how_stated(one) == KNOWN_SIZE:
        yield f"Size known is {BY_ARCHITECTURE}."
    if active.kind == "interval":
        closed = f" No closed model is among the {active.kept[1]}." if active.kept and EXTRA_MARKUP in active.because else ""
        yield f"Size is by {active.because}.{closed}"
    if markup.kind == "interval":
        yield f"Mark-up is {markup.because}."
    if read.kind == "interval":
        yield f"KV read is {read.because}."
    if one.contradiction:
        yield one.contradiction
    elif one.pairs and table.premium_verdict.value:
        yield premium_in_words(table.premium_verdict.value)
    if (found := one.convention) and found.bayes_factor:
        by = two_digits(found.bayes_factor)
        yield f"Convention: {found.same} of {found.others} other vendors round premiums alike; Bayes factor {by}."
    of_tiers = record_of_tiers((term for found in one.storage if not found.disclosed for term in found.evidence), table.tier_rules)
    if of_tiers or deciding_source(one):
        yield " ".join(filter(None, (of_tiers, deciding_source(one))))
    if flags := [flag for flag in one.flags if flag not in _SAID]:
        yield f"Flags: {'; '.join(flags)}."
