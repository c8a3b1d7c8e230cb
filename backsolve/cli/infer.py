"""The command `infer`: what price sheets imply."""

import sys
from datetime import date
from typing import TYPE_CHECKING, BinaryIO

import click

from backsolve.cli.common import all_option, as_of_option, fail_on, pairs, prices_option, processes, workers_option
from backsolve.streams import say, width
from derive.errors import WrongValue
from derive.files import write

if TYPE_CHECKING:
    from invert.table import InferenceTable

INFER_FORMATS = ("table", "json", "csv", "markdown", "latex", "html")


@click.command("infer")
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option("--provider", metavar="P", help="Only the sheets of one provider.")
@click.option("--tier", metavar="T", help="A service tier, or all; by default standard, else off_peak.")
@as_of_option
@all_option
@prices_option
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="COMPONENT=AMOUNT",
    help="What if: output=20, input=+10%, input@200k=5 (or a band added), cache_write:5min=x1.5; may be repeated.",
)
@click.option(
    "--anchor", "anchors", multiple=True, metavar="NAME=VALUE", help="Replace an outside fact, e.g. active_params=60B; may be repeated."
)
@workers_option("Processes that share the sheets.")
@click.option("--as", "style", type=click.Choice(INFER_FORMATS), default="table", help="Form of the answer.")
@click.option("--wide", is_flag=True, help="All columns of the table, however wide that is.")
@click.option("--save", metavar="FILE", help="Write the result as JSON as well.")
def infer_command(
    models: tuple[str, ...], provider: str | None, tier: str | None, as_of: date | None, everything: bool, own: str | BinaryIO | None,
    changes: tuple[str, ...], anchors: tuple[str, ...], workers: int, style: str, wide: bool, save: str | None,
) -> None:  # fmt: skip
    """What price sheets imply: KV bytes per token, bandwidth-bound fraction, storage tier.

    Without MODEL one row a current sheet; with one MODEL that sheet in full, every reading with its numbers.

    Example:

    \b
    backsolve infer gemini-3.1-pro --set output=20
    backsolve infer gemini-3.1-pro --set input=+10% --set input@500k=6
    backsolve infer --provider anthropic --as-of 2026-03-12
    backsolve infer --prices mine.csv --save result.json
    """
    from derive.units import named_texts
    from invert.assumptions import FACTS
    from invert.inference import infer as run_inference

    if save == "":
        raise WrongValue("--save needs the name of a file to write; given ''")
    with processes(workers) as executor:
        table = run_inference(
            models,
            prices=own,
            provider=provider,
            tier=tier,
            as_of=as_of,
            everything=everything,
            anchors=named_texts(anchors, FACTS),
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


def _rendered(table: "InferenceTable", style: str, wide: bool, in_full: bool) -> str:
    if style in ("json", "csv"):
        from invert.report import contract

        return contract.run_as_json(table) if style == "json" else contract.run_as_csv(table)
    if style != "table":
        from invert.report.document import document

        return document(table, style)
    if in_full:
        from invert.report.sheet import report

        return "\n\n".join(report(one, table, width(sys.stdout)) for one in table)
    from invert.report.table import summary

    return summary(table, width=None if wide else width(sys.stdout))
