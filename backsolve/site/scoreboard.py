"""Build the page of the scoreboard, and the page of its misses: the wrong predictions for known models."""

from collections.abc import Iterator, Sequence
from math import log

from backsolve.site.parts import Block, ReportSection, table_block
from backsolve.site.writing import Page
from derive.units import show
from invert.data import Data
from invert.estimators.known import judgements
from invert.estimators.market.line import judged_sizes
from invert.records import Judgement
from invert.report.figures import foretold_against_true, foretold_over_true, reliability
from invert.validation import scoreboard
from invert.validation import scoreboard_text as shown

_BOARD, _MISSES = "scoreboard/index.html", "scoreboard/misses/index.html"
SECTIONS_SHOWN = ("skill", "experiments", "truth", "single-band", "storage", "controls", "production", "calibration")
"""Sections of the scoreboard on this page. Claims and published problems are not here, because they are about equations."""
_MISSED = ("model", "by", "true", "predicted", "range", "off by")
_BOARD_SUMMARY = "How often every estimate was right of models it had not seen, and by how much it was wrong."
_MISSES_SUMMARY = "Every range that did not hold what is true, the worst first."


def scoreboard_pages(data: Data) -> Iterator[Page]:
    """Yield the page of the scoreboard and the page of its misses."""
    sizes, caches = judged_sizes(data), judgements(data)
    found = {name: scoreboard.section_rows(name, data) for name in SECTIONS_SHOWN}
    sections = [_section(name, rows) for name, rows in found.items()]
    charts = (
        reliability(found["skill"]),
        foretold_against_true("Active parameters from the price: predicted against true", "active_params", sizes),
        foretold_over_true("KV bytes of known models: predicted over true", caches),
    )
    context = {"figures": charts, "sections": sections, "titles": shown.TITLES, "misses": _MISSES}
    yield Page(address=_BOARD, template="scoreboard.html", title="Scoreboard", summary=_BOARD_SUMMARY, kind="record", context=context)
    missed = [
        ReportSection(anchor="size", heading="Active parameters by input price", blocks=(_misses("active_params", sizes),)),
        ReportSection(anchor="kv", heading="KV bytes by what premiums suggest", blocks=(_misses("kv_bytes_per_token", caches),)),
    ]
    counts = [(one.heading, len(one.blocks[0].rows), len(judged)) for one, judged in zip(missed, (sizes, caches), strict=True)]
    context = {"sections": missed, "counts": counts, "board": _BOARD}
    yield Page(address=_MISSES, template="misses.html", title="Misses", summary=_MISSES_SUMMARY, kind="record", context=context)


def _section(name: str, rows: list[scoreboard.ScoreRow]) -> ReportSection:
    columns = shown.SHOWN.get(name, tuple(rows[0]) if rows else ())
    return ReportSection(anchor=name, heading=shown.TITLES[name].partition(":")[0], blocks=(table_block(columns, rows),))


def _misses(quantity: str, judged: Sequence[Judgement]) -> Block:
    missed = sorted((one for one in judged if not one.held), key=lambda one: -abs(log(_off_by(one))))
    return table_block(_MISSED, [_missed(quantity, one) for one in missed])


def _off_by(one: Judgement) -> float:
    _, median, _ = one.ratios_to_truth
    return median


def _missed(quantity: str, one: Judgement) -> dict[str, object]:
    def text(value: float) -> str:
        return show(quantity, value, digits=2)

    return {
        "model": one.model,
        "by": one.by,
        "true": text(one.truth),
        "predicted": text(one.median),
        "range": f"{text(one.low)} to {text(one.high)}",
        "off by": f"x{_off_by(one):.2g}",
    }
