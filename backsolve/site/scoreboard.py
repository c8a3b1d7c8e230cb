"""Build the page of the scoreboard, and the page of its misses: the wrong predictions for known models."""

from collections.abc import Iterator, Sequence
from math import log

from backsolve.figures.sheets import predicted_against_true, predicted_over_true, reliability
from backsolve.site.writing import Page
from invert.data import read_data
from invert.estimators.known import predictions_of_known
from invert.estimators.size import judged_sizes
from invert.records import JudgedPrediction
from invert.validation import scoreboard
from invert.validation.scoreboard_text import SHOWN, TITLES

SECTIONS_SHOWN = ("skill", "experiments", "truth", "single-band", "storage", "controls", "production", "calibration")
"""Sections of the scoreboard on this page. Claims and published problems are not here, because they are about equations."""


def scoreboard_pages() -> Iterator[Page]:
    """Yield the page of the scoreboard and the page of its misses."""
    data = read_data()
    sizes, caches = judged_sizes(data), predictions_of_known(data)
    found = {name: scoreboard.section_rows(name, data) for name in SECTIONS_SHOWN}
    charts = (
        reliability(found["skill"]),
        predicted_against_true("Active parameters from the price: predicted against true", "active_params", sizes),
        predicted_over_true("KV bytes of known models: predicted over true", caches),
    )
    sections = [(name, TITLES[name], SHOWN.get(name, tuple(rows[0]) if rows else ()), rows) for name, rows in found.items()]
    yield Page("scoreboard/index.html", "scoreboard.html", {"figures": charts, "sections": sections})
    missed = [
        ("size", "Active parameters by input price", "active_params", misses(sizes), len(sizes)),
        ("kv", "KV bytes by the long-context premium", "kv_bytes_per_token", misses(caches), len(caches)),
    ]
    yield Page("scoreboard/misses/index.html", "misses.html", {"sections": missed})


def misses(judged: Sequence[JudgedPrediction]) -> list[JudgedPrediction]:
    """Return the predictions with a range that does not contain the truth, the worst first."""
    return sorted((one for one in judged if not one.right), key=lambda one: -abs(log(one.ratios_to_truth[1])))
