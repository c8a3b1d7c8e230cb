"""Format the scoreboard as text, JSON and CSV: a summary, then every section as a titled table with the meaning of its verdicts."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from statistics import median

from derive.show.layout import csv_text
from invert.records import Span
from invert.report.columns import name_of
from invert.report.layout import NONE, aligned, laid_out, title
from invert.validation.claim_rows import AGREES, AS_PUBLISHED, CLAIM_VERDICTS, PROBLEM_VERDICTS, UNDECIDED

_Rows = list[dict[str, object]]
SHOWN = {
    "skill": ("estimate", "left out", "models", "families", "rms", "class", "gain", "in 50%", "in 90%"),
    "claims": ("id", "claim", "said", "unit", "found", "verdict", "tolerance", "reason", "by", "time", "source"),
    "problems": ("id", "said", "unit", "found", "verdict", "tolerance", "problem", "command", "reason", "arithmetic", "source"),
    "calibration": ("run", "quantity", "sheets", "coverage_50", "coverage_90", "ks_p", "verdict"),
}
"""Columns in the text of a section that does not show all of them."""

TITLES = {
    "truth": "Each reading over the true value, for sheets with several bands of models with a known architecture",
    "skill": (
        "Leave-out prediction: RMS error, RMS error of the baseline and gain in log score (all in nats), and coverage. backsolve"
        " validate --as json has intervals and pools"
    ),
    "single-band": "Sheets with one band: differences between the prices of hosts for one model, and the value of cache-read prices",
    "storage": "Tier rules on cache lifetimes with a disclosed tier (log score: 0 is certain and right)",
    "controls": "Negative controls: one storage price for open models with different caches",
    "production": "Nodes of one day: computed and disclosed",
    "efficiency": "Published runs and the ranges of --efficiency calibrated: how many were inside, predicted over measured time (geometric"
    " mean, least, most), and the width of a range (median of most over least). First for runs that the fit did not use, then for its own"
    " runs, each left out of the fit",
    "experiments": "Models at two prices: the change of every estimate (nats), how often the second estimate is in the first range"
    " (right), and how often there is no second estimate (lost)",
    "claims": "Claims of the lecture: the stated number, the computed number, and the verdict",
    "problems": "Published problems, each as one command: published answer, computed answer and verdict",
    "calibration": "Shares of true values inside the 50 % and 90 % ranges, with a verdict: first for simulated sheets, with the p-value of"
    " uniform ranks (the control with noise x 0.3 must be detected), then for models that an estimator had not seen",
    "algebra": "Closed forms of every equation, unknown and regime, at six random points each: found by both algebras and equal, found by"
    " one alone, found by none, different",
}
VERDICTS = {"claims": CLAIM_VERDICTS, "problems": PROBLEM_VERDICTS}
"""Sections with verdicts, and their meanings."""
_FIGURES = {"claims": "figures of the lecture", "problems": "published problems"}
_OVERVIEW = ("claim", "judged on", "right", "gain", "verdict")
_OVERVIEW_TITLE = "Each estimate, the known models for comparison, and how often it was right"
_HOW_TO_READ = (
    "right: true values inside the 90 % range, for models left out of the fit. gain: log score over a guess without the price [nats]."
    " retest: one model before and after a price change (rms in nats).",
    "more: backsolve validate --section skill, calibration, truth, storage, claims, problems, or all. Words: explain WORD.",
)
_IN_WORDS = {"KV read": "typical KV, read", "KV stored": "typical KV, stored"}
_OF_PARAMETERS = {"active": "active params", "all": "total params", "sparse": "MoE", "hosts": "host"}
"""Short names of estimators, and of the parts of a name for parameters, in the overview."""
_RETESTED = {"active_params, by price": "active params, retest", "bandwidth_bound_fraction": "bandwidth-bound, retest"}
_NO_GAIN = 0.02
"""Most that a control may gain [nat]."""
_FACTOR = 3.0
"""Largest factor between a trusted reading and the true value, and smallest factor between caches for a control."""
_TIER_RULES = {"shipped": "cache tier, all rules", "drain match, the lecture's drain times": "cache tier by duration"}
_GUESS = "uniform guess"


def rendered_sections(found: Mapping[str, _Rows], style: str, width: int = 100) -> str:
    """Format sections as titled tables of this width, as one JSON object, or as CSV tables separated by an empty line."""
    if style == "json":
        return json.dumps(found, indent=2, allow_nan=False)
    if style == "csv":
        return "\n\n".join(csv_text([*rows[0]], rows) for rows in found.values() if rows)
    return "\n\n".join(laid_out(_section(name, rows), width) for name, rows in found.items())


def _section(name: str, rows: _Rows) -> Iterable[str]:
    texts = [{column: _text(value, (name, column) == ("skill", "gain")) for column, value in row.items()} for row in rows]
    if name == "experiments":
        texts = [{**row, "estimate": estimate_in_words(row["estimate"])} for row in texts]
    yield from title(TITLES[name])[1:]
    if name in VERDICTS and rows:
        yield legend(name, rows)
    yield aligned(SHOWN.get(name, tuple(texts[0])), texts) if texts else "none"


def estimate_in_words(name: str) -> str:
    """Return the printed name of an estimate. For price/cost, add the source of the size."""
    quantity, _, by = name.partition(", ")
    said = name_of(quantity, "by_price" if by else "")
    return said if said.endswith(by) else f"{said} {by}"


def legend(name: str, rows: Iterable[Mapping[str, object]]) -> str:
    """Explain the verdicts of a section, and the allowed difference of two numbers that agree."""
    meanings = "; ".join(f"{verdict}: {meaning}" for verdict, meaning in VERDICTS[name].items())
    found = sorted(float(str(row["tolerance"])) for row in rows if row["tolerance"] is not None)
    if not found:
        return f"{meanings}."
    least, middle, most = (f"{share:.3g}" for share in (found[0], median(found), found[-1]))
    return f"{meanings}. Relative tolerances are from {name}.csv: {least} to {most}, median {middle}."


def overview(found: Mapping[str, _Rows], lecture_error: Span | None, width: int) -> str:
    """Summarise all sections on one screen: claim, population, coverage, gain and verdict."""
    return laid_out([_OVERVIEW_TITLE, "", aligned(_OVERVIEW, _overview_rows(found, lecture_error), 2), "", *_HOW_TO_READ], width)


def _overview_rows(found: Mapping[str, _Rows], lecture_error: Span | None) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the overview. A missing section has no row."""
    if lecture_error:
        trusted = 1 / _FACTOR <= lecture_error.median <= _FACTOR
        yield "KV from threshold", "sheets of known KV", lecture_error.text, NONE, "trusted" if trusted else "not trusted"
    for row in found.get("skill", ()):
        if row["verdict"]:
            of, closed = str(row["estimate"]), row["left out"] == "model" and "closed" not in str(row["estimate"])
            claim = _IN_WORDS.get(of) or ", ".join(_OF_PARAMETERS.get(part, part) for part in of.split(", ")) + ", closed" * closed
            judged, right = f"{row['models']} in {row['families']} families", f"{row['right']} of {row['models']}"
            yield claim, judged, right, _text(row["gain"], True), str(row["verdict"]).partition(":")[0]
    if simulated := [row for row in found.get("calibration", ()) if row["run"] == "calibrated"]:
        shares = sorted(float(str(row["coverage_90"])) for row in simulated)
        sound = "sound" if all(str(row["verdict"]).startswith("sound") for row in simulated) else "unsound"
        right = f"{100 * shares[0]:.1f}-{100 * shares[-1]:.1f} %"
        yield "sampler, 90 % ranges", f"{simulated[0]['sheets']} simulated", right, NONE, sound
    yield from _tier_rules(found.get("storage", ()))
    for row in found.get("experiments", ()):
        if name := _RETESTED.get(str(row["estimate"])):
            yield name, f"{row['experiments']} price changes", f"{row['right']} of {row['experiments']}", NONE, f"rms {row['rms']}"
    for name, figures in _FIGURES.items():
        if rows := found.get(name):
            by_verdict = Counter(str(row["verdict"]) for row in rows)
            decided, wrong = len(rows) - by_verdict[UNDECIDED], sum(by_verdict[one] for one in by_verdict if one.startswith("contradicted"))
            right = f"{sum(by_verdict[one] for one in {*AGREES, *AS_PUBLISHED})} of {decided}"
            yield figures, f"{decided} figures", right, NONE, f"{wrong} wrong"
    for row in found.get("production", ()):
        yield "nodes of a disclosed day", "1 vendor", f"{row['computed']}/{row['disclosed']}", NONE, str(row["off by"])
    yield from _controls(found)


def _tier_rules(rows: Iterable[Mapping[str, object]]) -> Iterator[tuple[str, ...]]:
    """Yield the tier that is printed, and the lecture's rule, against a uniform guess."""
    scores = {str(row["rule"]): row for row in rows}
    for rule, name in _TIER_RULES.items():
        if rule in scores and _GUESS in scores:
            row = scores[rule]
            gain = float(str(row["mean log score"])) - float(str(scores[_GUESS]["mean log score"]))
            verdict = "few cases" if gain > 0 else "not trusted"
            yield name, f"{row['cases']} stated by vendors", f"{row['right']} of {row['answered']}", f"{gain:+.2f}", verdict


def _controls(found: Mapping[str, _Rows]) -> Iterator[tuple[str, ...]]:
    """Yield the negative controls: shuffled prices, and one storage price for caches of different size."""
    for row in found.get("skill", ()):
        if "shuffles" in str(row["estimate"]):
            verdict = "no gain" if float(str(row["gain"])) < _NO_GAIN else "a gain"
            yield "shuffled (control)", f"{row['models']} in {row['families']} families", NONE, _text(row["gain"], True), verdict
    unlike = [float(str(row["ratio"])) for row in found.get("controls", ())]
    if unlike and max(unlike) > _FACTOR:
        yield "storage price (control)", f"KV {max(unlike):.3g}x apart", "one price", NONE, "no KV in it"


def _text(value: object, signed: bool) -> str:
    if value is None:
        return "-"
    return f"{value:+.2f}" if signed else str(value)
