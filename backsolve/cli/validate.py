"""The command `validate`: the readings held against what is known."""

import sys

import click

from backsolve.cli.common import fail_on, processes, workers_option
from backsolve.streams import width
from derive.errors import WrongValue
from derive.files import write

SECTIONS = ("truth", "skill", "single-band", "storage", "controls", "production", "claims", "calibration")
SHEETS_PER_SHAPE, SEEDS, _DRAWS = 300, tuple(range(1, 11)), 8192
"""What `--rerun` simulates: ten seeds of three shapes."""


@click.command("validate")
@click.option("--section", type=click.Choice(SECTIONS), multiple=True, help="One part of the scoreboard; may be repeated.")
@click.option("--rerun", is_flag=True, help="Run the calibration again, 18,000 simulated sheets; takes some minutes.")
@workers_option("Processes that share a rerun.")
@click.option("--as", "style", type=click.Choice(("table", "json", "csv")), default="table", help="Form of the answer.")
@click.option("--save", metavar="FILE", help="Write the rows of a rerun as CSV as well.")
def validate_command(section: tuple[str, ...], rerun: bool, workers: int, style: str, save: str | None) -> None:
    """What the readings make of what is known: the scoreboard.

    \b
    truth        KV bytes and attention of models of known architecture, over the truth
    skill        every estimator, and what might join it, on models that were left out
    single-band  what lists of one band tell, by hosts of one model
    storage      tier rules on lifetimes whose tier a vendor disclosed
    controls     one storage price on models of unlike cache
    production   the nodes of a disclosed day
    claims       numbers that the lecture says, beside what the equations and tables make of them
    calibration  the sampler on sheets drawn from its own priors: the last long run, or a new one

    Example:

    \b
    backsolve validate --section truth --section skill
    backsolve validate --as csv
    """
    from invert import scoreboard

    chosen = ("calibration",) if rerun and not section else section or SECTIONS
    if (save is not None or workers > 1) and not rerun:
        raise WrongValue("--save and --workers go with --rerun, which is what takes long")
    if rerun and chosen != ("calibration",):
        raise WrongValue("--rerun is of the calibration: --section calibration --rerun")
    found, problems = ({}, []) if rerun else scoreboard.sections(chosen)
    if rerun:
        from invert.posterior.simulation import calibration_run, rankings_as_csv

        with processes(workers) as executor:
            runs = [calibration_run(SHEETS_PER_SHAPE, SEEDS, _DRAWS, factor, executor) for factor in (1.0, 0.3)]
        text = rankings_as_csv([row for run in runs for row in run])
        if save is not None:
            write(save, text)
        found = {"calibration": scoreboard.pooled(text.splitlines())}
    click.echo(scoreboard.rendered_sections(found, style, width(sys.stdout)))
    fail_on(problems)
