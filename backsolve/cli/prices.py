"""The `backsolve` command: derive's commands, and infer and prices. Heavy imports happen inside the commands."""

import sys
from contextlib import contextmanager
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from backsolve.cli.catalogue import COMMANDS, run
from backsolve.streams import prepare, say, width
from derive.errors import INPUT_IS_WRONG, WrongValue, shorten
from derive.files import standard_input, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

    from invert.table import InferenceTable
from invert.sheets.rows import Problem

INFER_FORMATS = ("table", "json", "csv", "markdown", "latex", "html")


class IsoDate(click.ParamType):
    """A date as YYYY-MM-DD."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        try:
            if len(value) != len("2026-11-20"):
                raise ValueError("only the long form")
            return date.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not a date; write it as 2026-11-20", param, ctx)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="backsolve", message="%(prog)s %(version)s")
def backsolve() -> None:
    """The equations of LLM-serving economics, solvable for any unknown, and what public API prices imply.

    \b
    backsolve infer                  what every shipped price sheet implies
    backsolve infer gemini-3.1-pro   one sheet in full
    backsolve solve balance_batch machine_balance_ratio=300 sparsity=8
    backsolve cite roofline.step_time --as bibtex
    """


@backsolve.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option("--provider", metavar="P", help="Only the sheets of one provider.")
@click.option("--tier", metavar="T", help="A service tier, or all; by default standard, else off_peak.")
@click.option("--as-of", type=IsoDate(), metavar="DATE", help="The day whose prices hold; by default the newest in the data.")
@click.option("--all", "everything", is_flag=True, help="Every service tier and batch sheet.")
@click.option("--prices", metavar="FILE", help="A CSV of your own laid over the shipped prices; - reads standard input.")
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="COMPONENT=AMOUNT",
    help="What if: output=20, input@200k=5, cache_write:5min=4; may be repeated.",
)
@click.option(
    "--anchor", "anchors", multiple=True, metavar="NAME=VALUE", help="Replace an outside fact, e.g. active_params=60B; may be repeated."
)
@click.option("--workers", type=click.IntRange(1, 256), default=1, metavar="N", help="Processes that share the sheets.")
@click.option("--as", "style", type=click.Choice(INFER_FORMATS), default="table", help="Form of the answer.")
@click.option("--wide", is_flag=True, help="All columns of the table, however wide that is.")
@click.option("--save", metavar="FILE", help="Write the result as JSON as well.")
def infer(
    models: tuple[str, ...], provider: str | None, tier: str | None, as_of: date | None, everything: bool, prices: str | None,
    changes: tuple[str, ...], anchors: tuple[str, ...], workers: int, style: str, wide: bool, save: str | None,
) -> None:  # fmt: skip
    """What price sheets imply: KV bytes per token, bandwidth-bound fraction, storage tier.

    Without MODEL one row a current sheet; with one MODEL that sheet in full, every reading with its numbers.
    """
    from derive.units import named_texts, parse
    from invert.inference import infer as run_inference

    if save == "":
        raise WrongValue("--save needs the name of a file to write; given ''")
    with processes(workers) as executor:
        table = run_inference(
            models,
            prices=standard_input() if prices == "-" else prices,
            provider=provider,
            tier=tier,
            as_of=as_of,
            everything=everything,
            anchors={name: parse(name, text) for name, text in named_texts(anchors).items()},
            changes=pairs("--set", changes),
            executor=executor,
        )
    for note in table.notes:
        say(note)
    click.echo(_rendered(table, style, wide, in_full=len(models) == 1))
    if save is not None:
        from invert.report.contract import saved

        write(save, saved(table))
    fail_on(table.problems)


@contextmanager
def processes(workers: int) -> "Iterator[Executor | None]":
    """A pool of so many processes; none for one worker."""
    if workers == 1:
        yield None
        return
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(workers) as executor:
        yield executor


def _rendered(table: "InferenceTable", style: str, wide: bool, in_full: bool) -> str:
    if style in ("json", "csv"):
        from invert.report import contract

        return contract.as_json(table) if style == "json" else contract.as_csv(table)
    if style != "table":
        from invert.report.document import document

        return document(table, style)
    if in_full:
        from invert.report.sheet import report

        return "\n\n".join(report(one, table, width(sys.stdout)) for one in table)
    from invert.report.table import summary

    return summary(table, width=None if wide else width(sys.stdout))


SECTIONS = ("truth", "skill", "storage", "controls", "production", "calibration")
LONG_RUN = {"sheets_per_shape": 300, "seeds": tuple(range(1, 11)), "draws": 8192}
"""What `--rerun` simulates: ten seeds of three shapes."""


@backsolve.command()
@click.option("--section", type=click.Choice(SECTIONS), multiple=True, help="One part of the scoreboard; may be repeated.")
@click.option("--rerun", is_flag=True, help="Run the calibration again, 18,000 simulated sheets; takes some minutes.")
@click.option("--workers", type=click.IntRange(1, 256), default=1, metavar="N", help="Processes that share a rerun.")
@click.option("--as", "style", type=click.Choice(("table", "json", "csv")), default="table", help="Form of the answer.")
@click.option("--save", metavar="FILE", help="Write the rows of a rerun as CSV as well.")
def validate(section: tuple[str, ...], rerun: bool, workers: int, style: str, save: str | None) -> None:
    """What the readings make of what is known: the scoreboard.

    \b
    truth        KV bytes and attention of models of known architecture, over the truth
    skill        how well each belief foretells a model that was left out
    storage      tier rules on lifetimes whose tier a vendor disclosed
    controls     one storage price on models of unlike cache
    production   the nodes of a disclosed day
    calibration  the sampler on sheets drawn from its own priors: the last long run, or a new one
    """
    from invert import scoreboard as truth

    chosen = ("calibration",) if rerun and not section else section or SECTIONS
    if (save is not None or workers > 1) and not rerun:
        raise WrongValue("--save and --workers go with --rerun, which is what takes long")
    if rerun and chosen != ("calibration",):
        raise WrongValue("--rerun is of the calibration: --section calibration --rerun")
    found, problems = ({}, []) if rerun else truth.sections(chosen)
    if rerun:
        from invert.posterior.simulation import as_csv, calibration_run

        with processes(workers) as executor:
            runs = [calibration_run(**LONG_RUN, noise_factor=factor, executor=executor) for factor in (1.0, 0.3)]
        text = as_csv([row for run in runs for row in run])
        if save is not None:
            write(save, text)
        found = {"calibration": truth.pooled(text.splitlines())}
    click.echo(truth.rendered(found, style, width(sys.stdout)))
    fail_on(problems)


@backsolve.group()
def prices() -> None:
    """The price data: list it, check it."""


@prices.command("list")
@click.option("--prices", "file", metavar="FILE", help="A CSV of your own laid over the shipped prices; - reads standard input.")
@click.option("--as-of", type=IsoDate(), metavar="DATE", help="The day whose prices hold; by default the newest in the data.")
@click.option("--all", "everything", is_flag=True, help="Every service tier and batch sheet.")
def list_prices(file: str | None, as_of: date | None, everything: bool) -> None:
    """List the sheets that hold on a day, with their base prices."""
    from invert.sheets.assemble import sheets
    from invert.sheets.read import load

    book = load(standard_input() if file == "-" else file)
    found, faults = sheets(book, as_of, everything=everything)
    if not found:
        say("no sheet holds on that day")
    width = max((len(f"{sheet.provider}/{sheet.model}") for sheet in found), default=0)
    for sheet in found:
        base = sheet.bands[0]
        bands = f", {len(sheet.bands)} bands" if len(sheet.bands) > 1 else ""
        currency = "" if base.input.currency == base.output.currency else f" {base.input.currency}"
        price = f"{base.input.amount:g}{currency} in, {base.output.amount:g} out {base.output.currency}/Mtok"
        click.echo(f"{sheet.provider + '/' + sheet.model:<{width}}  {sheet.service_tier:<9} {price}{bands}")
    if book.day_moved and not as_of:
        say(book.day_moved)
    fail_on((*book.problems, *faults))


@prices.command("check")
@click.option("--prices", "file", metavar="FILE", help="A CSV of your own laid over the shipped prices; - reads standard input.")
def check_prices(file: str | None) -> None:
    """Check every row of every table that ships, and of the prices on every day something changes."""
    from derive.shipped import reading
    from invert.sheets.read import load
    from invert.soundness import all_problems

    with reading():
        book = load(standard_input() if file == "-" else file)
        problems = all_problems(book)
    if not problems:
        click.echo(f"{len(book.rows)} rows, no problem found")
    if book.day_moved:
        say(book.day_moved)
    fail_on(problems)


def pairs(option: str, items: tuple[str, ...]) -> dict[str, str]:
    """`name=value` items by name."""
    split = [item.partition("=") for item in items]
    for name, equals, value in split:
        if not (name and equals and value):
            raise WrongValue(f"{option} takes name=value, e.g. output=20; given {shorten(name + equals + value)}")
        if sum(other == name for other, _, _ in split) > 1:
            raise WrongValue(f"{option} {shorten(name)} is given more than once")
    return {name: value for name, _, value in split}


def fail_on(problems: "tuple[Problem, ...] | list[Problem]") -> None:
    """Name every problem on stderr and leave with the status of wrong input; the rest has been printed."""
    for problem in problems:
        say(str(problem))
    if problems:
        raise SystemExit(INPUT_IS_WRONG)


for command in COMMANDS:
    backsolve.add_command(command)


def main() -> None:
    """Entry point of the `backsolve` command."""
    prepare()
    run(backsolve)
