"""The commands `validate` and `claims`: the readings and the statements of the lecture, compared with known and computed values."""

import json
import re
from typing import TYPE_CHECKING

import click

from backsolve.cli import options
from backsolve.streams import fail_on, in_terminal, progress, tell, tell_rows, width
from derive.catalogue.searching import corrected, mentions
from derive.errors import UnknownName, WrongValue
from derive.files import write
from invert.data import read_data

if TYPE_CHECKING:
    from invert.validation.scoreboard import ScoreRow

_SECTIONS = (
    *("truth", "skill", "single-band", "storage", "controls", "production"),
    *("efficiency", "experiments", "claims", "problems", "calibration"),
)
_ALGEBRA = "algebra"
"""A section that must be named, because it runs for almost a minute."""
_ALL = "all"
"""The word of `--section` for all other sections."""
SEEDS, SHEETS, _DRAWS = 10, 300, 8192
"""Defaults of `--rerun`."""
_FAULTY_NOISE = 0.3
"""Assumed noise of the premiums, as a share of its true size, in a run that must fail."""


@click.command("validate", cls=options.Command)
@click.option(
    "--section", type=click.Choice((*_SECTIONS, _ALGEBRA, _ALL)), multiple=True, help="One part of the scoreboard. May be repeated."
)
@click.option("--rerun", is_flag=True, help="Run the calibration again: 18,000 simulated sheets and their control.")
@click.option("--seeds", type=click.IntRange(1, 1000), metavar="N", help=f"Seeds of a rerun. {SEEDS} by default.")
@click.option("--sheets", type=click.IntRange(1, 10_000), metavar="N", help=f"Sheets for each seed and shape. {SHEETS} by default.")
@click.option(
    "--draws", type=click.Choice([2**power for power in range(6, 17)]), metavar="N",
    help=f"Draws for each sheet, a power of two. {_DRAWS} by default.",
)  # fmt: skip
@options.workers("Processes that share a rerun.")
@options.form("table", "json", "csv")
@options.file("--save", "Also write the rows of a rerun as CSV.")
def validate_command(
    section: tuple[str, ...], rerun: bool, seeds: int | None, sheets: int | None, draws: int | None, workers: int | None, style: str,
    save: str | None,
) -> None:  # fmt: skip
    """Compare the estimates with known values: the scoreboard.

    Without --section one screen shows every claim, its test data, its record and its gain. CSV and JSON have all sections.

    \b
    truth        estimates of KV bytes and attention over the true values, for models with a known architecture
    skill        every estimator, and candidates for new ones, on models that were left out
    single-band  readings of sheets with one band, by hosts of one model
    storage      rules for the cache tier, on lifetimes with a disclosed tier
    controls     one storage price for models with different caches
    production   the number of nodes that a vendor disclosed for one day
    efficiency   published runs, compared with the ranges of --efficiency calibrated
    experiments  every estimate of one model before and after its price changed
    claims       numbers of the lecture, compared with the values of equations and tables
    problems     problems that others published with their answers, each as one command
    calibration  whether ranges contain the truth as often as promised, with a verdict on each: for simulated sheets (the last long
                 run or a new one), and for models that an estimator had not seen
    algebra      the closed forms of every equation, unknown and regime, against SymPy (almost a minute)

    all          all sections except algebra

    A rerun lasts about seven minutes on one processor. With one seed and 10 sheets it lasts two seconds.

    Example:

    \b
    backsolve validate --section truth --section skill
    backsolve validate --section calibration --rerun --seeds 1 --sheets 10
    """
    from invert.estimators.known import error_of_lecture
    from invert.validation.scoreboard import sections
    from invert.validation.scoreboard_text import overview, rendered_sections

    section = tuple(dict.fromkeys(name for one in section for name in (_SECTIONS if one == _ALL else (one,))))
    chosen = ("calibration",) if rerun and not section else section or _SECTIONS
    if not rerun and any(option is not None for option in (save, seeds, sheets, draws, workers)):
        raise WrongValue("--seeds, --sheets, --draws, --save and --workers need --rerun")
    if rerun and chosen != ("calibration",):
        raise WrongValue("--rerun is for the calibration only: --section calibration --rerun")
    on_screen = style == "table" and not section and not rerun
    if not rerun:
        with progress("validate", len(chosen)) as starting:
            found, problems = sections(chosen, starting)
    else:
        found, problems = _rerun(sheets or SHEETS, seeds or SEEDS, draws or _DRAWS, workers or 1, save), []
    of_lecture = error_of_lecture(read_data()) if on_screen else None
    click.echo(overview(found, of_lecture, width()) if on_screen else rendered_sections(found, style, width()))
    fail_on(problems)


def _rerun(sheets: int, seeds: int, draws: int, workers: int, save: str | None) -> "dict[str, list[ScoreRow]]":
    """Return the section of a new calibration and of the same one with a deliberate fault. Write their rows as CSV to `save`."""
    from backsolve.cli.sharing import SharedWork
    from derive.show.layout import csv_text
    from invert.validation.scoreboard import pooled
    from invert.validation.simulation import calibration_run

    with SharedWork(workers, "validate --rerun") as executor:
        runs = [calibration_run(sheets, range(1, seeds + 1), draws, factor, executor) for factor in (1.0, _FAULTY_NOISE)]
    rows = [row for run in runs for row in run]
    if save is not None:
        write(save, csv_text([*rows[0]], rows) + "\n")
    return {"calibration": pooled(rows)}


@click.command("claims", cls=options.Command)
@options.words("[ID|WORD]...", "claims")
@options.form("text", "json", help="Form of the list.")
def claims_command(words: str, style: str) -> None:
    """List the claims and predictions of the lecture with the stated and the computed value: all, or only the ones with a WORD.

    An ID shows one claim with the command that computes it, its time in the talk, and the reason of the verdict.

    Example:

    \b
    backsolve claims
    backsolve claims prediction
    backsolve claims A13d
    """
    from invert.validation.scoreboard import sections

    found, problems = sections(("claims",))
    rows = found.get("claims", [])
    of_id = re.compile(re.escape(words) + ("[0-9]+[a-z]" if len(words) == 1 else "[a-z]?"), re.IGNORECASE)
    chosen = [row for row in rows if of_id.fullmatch(str(row["id"]))] or _rows_about(words, rows)
    if not chosen and rows:
        names = {name for row in rows for name in (str(row["id"]), *re.findall("[a-z]+", str(row["claim"]).lower()))}
        raise UnknownName("claim", words, names, "backsolve claims lists them")
    if style == "json":
        tell(json.dumps(chosen, indent=2, allow_nan=False), style)
    elif len(chosen) == 1:
        _tell_one(chosen[0])
    else:
        _tell_all(chosen)
    fail_on(problems)


def _rows_about(text: str, rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return the claims with some words, or otherwise with the corrected words."""
    searched = [" ".join(str(row[name]) for name in ("id", "claim", "verdict", "reason", "by", "time", "source")) for row in rows]

    def about(words: str) -> list[dict[str, object]]:
        return [row for row, searched_text in zip(rows, searched, strict=True) if mentions(words, searched_text)]

    return about(text) or about(corrected(text, searched))


def _value(row: dict[str, object], name: str) -> str:
    return "none" if row[name] is None else f"{row[name]} {row['unit']}".rstrip()


def _tell_all(rows: list[dict[str, object]]) -> None:
    def values(row: dict[str, object]) -> str:
        return "" if row["said"] is row["found"] is None else f": stated {_value(row, 'said')}, computed {_value(row, 'found')}"

    tell_rows((str(row["id"]), str(row["verdict"]), f"{row['claim']}{values(row)}") for row in rows)
    if in_terminal():
        tell(f"{len(rows)} claims. backsolve claims {rows[0]['id']} shows one with its command, time and reason. Words: explain WORD.")


def _tell_one(row: dict[str, object]) -> None:
    said = {
        f"{row['id']}": row["claim"],
        "stated": _value(row, "said"),
        "computed": _value(row, "found"),
        "verdict": row["verdict"],
        "reason": row["reason"],
        "time": row["time"] or ("not known" if str(row["source"]).startswith("talk") else "none, the source is not the talk"),
        "source": row["source"],
        "from": row["by"],
        "command": row["command"] or ("none, for this reason" if row["found"] is None else f"none, the value is in {row['by']}"),
    }
    for head, text in said.items():
        if text:
            # A command stays on one line, so that it can be copied.
            line = f"{head:<11} {text}"
            click.echo(line) if head == "command" else tell(line)
