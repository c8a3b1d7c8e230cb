"""The scoreboard as text, JSON and CSV: every section a titled table, what its verdicts mean, and before all of them what they come to."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from statistics import median

from derive.claim_cells import AGREES, AS_PUBLISHED, CLAIM_VERDICTS, PROBLEM_VERDICTS, UNDECIDED
from derive.show.folding import fold
from invert.report.changes import name_of
from invert.report.layout import aligned, laid_out, title
from invert.scoreboard import MODELS_LEFT_OUT
from invert.validation.coverage import TRUSTED

_Rows = list[dict[str, object]]
SHOWN = {
    "skill": ("estimate", "left out", "models", "families", "rms", "class", "gain", "in 50%", "in 90%"),
    "claims": ("id", "claim", "said", "unit", "found", "verdict", "tolerance", "reason", "by", "time", "source"),
    "problems": ("id", "said", "unit", "found", "verdict", "tolerance", "problem", "command", "reason", "arithmetic", "source"),
    "calibration": ("run", "quantity", "sheets", "coverage_50", "coverage_90", "ks_p", "verdict"),
}
"""Columns of a section that its text shows, where it is not all of them."""
_SIGNED = {"skill": ("gain",)}
"""Columns whose text has a sign."""
TITLES = {
    "truth": "Sheets of several bands, of models whose architecture is known: what each reading gives over the truth",
    "skill": (
        "Leave-out prediction: RMS error, RMS error of the baseline and gain in log score (all in nats), and coverage. backsolve"
        " validate --as json has intervals and pools"
    ),
    "single-band": "Lists of one band: how far prices of one model lie apart between hosts, and what cache reads tell",
    "storage": "Tier rules on cache lifetimes whose tier the vendor disclosed (log score: 0 is certain and right)",
    "controls": "Negative controls: one storage price, open models of unlike cache",
    "production": "A disclosed day: tokens over rates a node, against the nodes said",
    "experiments": "One model at two prices: by how much every estimate moved (nats), how often it stayed in the first range (held), and"
    " how often the second price gave none (lost)",
    "claims": "What the lecture claims: a number said, the number found, and the verdict",
    "problems": "Published problems, each one command: the answer published, the answer found, and the verdict",
    "calibration": "Shares of truths inside the 50 and 90 % ranges, and a verdict: of simulated sheets, with the p-value of uniform ranks"
    " (noise x 0.3 must be found out), then of models that an estimator had not seen",
    "algebra": "Closed forms of every equation, unknown and regime, at six random points each: found by both algebras and equal, found by"
    " one alone, found by none, different",
}
VERDICTS = {"claims": CLAIM_VERDICTS, "problems": PROBLEM_VERDICTS}
"""Sections of figures with verdicts, and what those mean."""
_FIGURES = {"claims": "Claims of the lecture", "problems": "Published problems"}
_NAMED_LINES = 2
"""Lines that name, before all sections, what is not reproduced."""


def rendered_sections(found: Mapping[str, _Rows], style: str, width: int = 100) -> str:
    """Sections as titled tables in so many columns, as one JSON object, or as CSV one after the other, an empty line between."""
    if style == "json":
        return json.dumps(found, indent=2, allow_nan=False)
    if style == "csv":
        return "\n".join(_csv(rows) for rows in found.values()).rstrip("\n")
    return "\n\n".join(laid_out(_section(name, rows), width) for name, rows in found.items())


def _section(name: str, rows: _Rows) -> Iterable[str]:
    texts = [{column: _text(value, column in _SIGNED.get(name, ())) for column, value in row.items()} for row in rows]
    if name == "experiments":
        texts = [{**row, "estimate": estimate_in_words(row["estimate"])} for row in texts]
    yield from title(TITLES[name])[1:]
    if name in VERDICTS and rows:
        yield legend(name, rows)
    yield aligned(SHOWN.get(name, tuple(texts[0])), texts) if texts else "none"


def estimate_in_words(name: str) -> str:
    """What people read for an estimate; of a mark-up with what the size is by that it is over.

    >>> estimate_in_words("active_params, by price"), estimate_in_words("input_markup, by known size"), estimate_in_words("KV read")
    ('active by price', 'price/cost by known size', 'KV read')
    """
    quantity, _, by = name.partition(", ")
    said = name_of(quantity, "market" if by else "")
    return said if said.endswith(by) else f"{said} {by}"


def legend(name: str, rows: Iterable[Mapping[str, object]]) -> str:
    """What the verdicts of a section mean, and how far a number may lie from another and agree with it.

    >>> rows = [{"tolerance": 0.1}, {"tolerance": 0.25}, {"tolerance": None}]
    >>> legend("problems", rows).partition(". ")[2]
    'A tolerance is from its row in problems.csv, relatively: 0.1 to 0.25, 0.175 in the middle.'
    """
    meanings = "; ".join(f"{verdict}, {meaning}" for verdict, meaning in VERDICTS[name].items())
    found = sorted(float(str(row["tolerance"])) for row in rows if row["tolerance"] is not None)
    if not found:
        return f"{meanings}."
    least, middle, most = (f"{share:.3g}" for share in (found[0], median(found), found[-1]))
    return f"{meanings}. A tolerance is from its row in {name}.csv, relatively: {least} to {most}, {middle} in the middle."


def opening(found: Mapping[str, _Rows], width: int) -> str:
    """What the sections come to, on a few lines: how many figures are reproduced and which are not, and which estimators to trust."""
    lines = [line for name in _FIGURES if found.get(name) for line in _counted(name, found[name], width)]
    judged = [row for row in found.get("calibration", ()) if row["run"] == MODELS_LEFT_OUT]
    if judged:
        lines.append(_of_estimators(judged))
    return "\n".join(fold(line, width) for line in lines)


def _counted(name: str, rows: _Rows, width: int) -> Iterator[str]:
    """`Claims of the lecture: of 134 figures 61 are reproduced (...), 73 are not (...).`, and the names of those, the worst first."""
    by_verdict = {verdict: [str(row["id"]) for row in rows if row["verdict"] == verdict] for verdict in VERDICTS[name]}
    stands = {verdict: ids for verdict, ids in by_verdict.items() if ids and verdict in (*AGREES, *AS_PUBLISHED)}
    others = {verdict: ids for verdict, ids in by_verdict.items() if ids and verdict not in stands}
    counts = [f"{sum(map(len, kinds.values()))} are {what}{_kinds(kinds)}" for what, kinds in (("reproduced", stands), ("not", others))]
    yield f"{_FIGURES[name]}: of {len(rows)} figures {', '.join(counts)}."
    named = [id for verdict, ids in reversed(others.items()) if verdict != UNDECIDED for id in ids]
    if named:
        yield _named(named, f"--section {name}", _NAMED_LINES * width)


def _kinds(by_verdict: Mapping[str, list[str]]) -> str:
    return f" ({', '.join(f'{len(ids)} {verdict}' for verdict, ids in by_verdict.items())})" if by_verdict else ""


def _of_estimators(rows: _Rows) -> str:
    by_trust: dict[bool, list[str]] = {True: [], False: []}
    for row in rows:
        by_trust[str(row["verdict"]).startswith(TRUSTED)].append(str(row["quantity"]))
    trusted, others = by_trust[True], by_trust[False]
    not_trusted = f"; not trusted: {'; '.join(others)}" if others else ""
    return f"Estimators: {len(trusted)} of {len(rows)} are trusted{not_trusted} (--section calibration)."


def _named(names: list[str], more: str, room: int) -> str:
    """As many names as there is room for, and how many more there are.

    >>> _named(["A6b", "A6c", "A11b", "A12d", "A12e", "A12f", "A12g"], "--section claims", 54)
    'Not reproduced: A6b and 6 more (--section claims).'
    """
    said, kept = f"Not reproduced: {', '.join(names)}.", len(names)
    while len(said) > room and kept:
        kept -= 1
        said = f"Not reproduced: {', '.join(names[:kept])} and {len(names) - kept} more ({more})."
    return said


def _text(value: object, signed: bool) -> str:
    if value is None:
        return "-"
    return f"{value:+.2f}" if signed else str(value)


def _csv(rows: _Rows) -> str:
    if not rows:
        return ""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
