"""Read the question of a saved result, repeat it, and compare the answers.

The file is untrusted. Its question is checked as if typed, and its embedded files are used without looking at their original places.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from derive.errors import WrongData
from derive.files import LARGEST_RESULT, called, json_of
from derive.immutable import immutable
from invert.assumptions import USUAL
from invert.comparison_records import changed_facts, changed_inputs, places_that_differ
from invert.data import made_with, read_data
from invert.encoder import WrongShape
from invert.estimate_text import with_new_keys
from invert.estimators.cases import assumptions_of, given_anchors
from invert.estimators.size import with_scores
from invert.report.contract import CODEC, Question, anchors_given, read_question
from invert.report.contract import saved as as_saved
from invert.result import Run
from invert.sheets.diff import SHIPPED
from invert.sheets.read import book_of

_MOST_ASKED = 4096
"""Maximum number of names of a kind in a question."""
_MADE_WITH = ("versions", "seeds", "tables", "assumptions", "rows")
"""Keys of a saved run that are not results."""
_MOST_LISTED = 5
"""Maximum number of tables or assumptions that a line names."""


@immutable
class SavedRun(Question):
    """The question of a saved result with its given anchors, and the findings."""

    place: str
    anchors: Mapping[str, float]
    found: Mapping[str, object]


def saved_run(path: str) -> SavedRun:
    """Read the run of a file of `--save`, or of standard input for the name `-`. Raises `WrongData` for any other file, in one line."""
    document = json_of(path, LARGEST_RESULT, parse_constant=_refuse_constant, object_hook=with_new_keys)
    try:
        return _run_of(called(path), document)
    except WrongShape as why:
        raise WrongData(f"{called(path)}: is not a saved result that can be repeated ({why}); infer --save writes one") from None


def arguments(saved: SavedRun) -> dict[str, Any]:
    """Return the arguments of `infer` that ask the same question. They include the day if the current data have another one."""
    request = saved.request
    moved = book_of(read_data(), request.prices).newest_retrieved != saved.as_of
    return {
        "names": request.names, "prices": request.prices, "provider": request.providers, "tier": request.tier,
        "everything": request.everything, "as_of": saved.as_of if request.as_of or moved else None, "anchors": saved.anchors,
        "changes": saved.changes, "knowledge": request.knowledge,
    }  # fmt: skip


def changed_since(saved: SavedRun) -> str:
    """Describe in one line the differences of version, tables, seeds and assumptions, or return an empty text."""
    then, now = saved.made, made_with(with_scores(read_data(), saved.request.knowledge))
    assumed = CODEC.encode(assumptions_of(given_anchors(saved.anchors, USUAL), USUAL))
    assumptions = changed_facts("", (saved.assumptions, assumed), _MOST_LISTED)
    parts = [*changed_inputs(then, now, _MOST_LISTED), *changed_facts("seed of ", (then.seeds, now.seeds)), *assumptions]
    return f"{saved.place}: was made with other inputs: {'; '.join(parts)}" if parts else ""


def differing(saved: SavedRun, table: Run) -> list[str]:
    """List the places at which a run and the saved findings differ."""
    return [*places_that_differ(saved.found, _findings(json.loads(as_saved(table, saved.shown))))]


def _findings(document: Mapping[str, Any]) -> dict[str, object]:
    """Return the sheets and other findings, without the provenance."""
    run = {name: value for name, value in document["run"].items() if name not in _MADE_WITH}
    return {**run, "sheets": document.get("sheets")}


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def _run_of(place: str, document: Mapping[str, Any]) -> SavedRun:
    question = read_question(document)
    request, shown = question.request, question.shown
    for name, names in (("models", request.names), ("providers", request.providers), ("where", shown.wanted)):
        if len(names) > _MOST_ASKED:
            raise WrongShape(f"run.asked.{name} has {len(names):,} entries, but at most {_MOST_ASKED:,} are allowed")
    if isinstance(shown.against, str) and shown.against != SHIPPED:
        # By name a result is compared with a day or the shipped prices alone: no file is looked for.
        shown = replace(shown, against=CODEC.decode(date, shown.against, "run.asked.against").isoformat())
    request = replace(request, as_of=question.as_of if question.day_given else None)
    asked = {**vars(question), "request": request, "shown": shown}
    return SavedRun(**asked, place=place, anchors=anchors_given(question), found=_findings(document))
