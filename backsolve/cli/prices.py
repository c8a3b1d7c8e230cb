"""The commands about the price data itself: prices list, prices check."""

from datetime import date
from typing import BinaryIO

import click

from backsolve.cli.common import Commands, all_option, as_of_option, fail_on, prices_option
from backsolve.streams import say


@click.group(cls=Commands)
def prices() -> None:
    """The price data: list it, check it."""


@prices.command("list")
@prices_option
@as_of_option
@all_option
def list_prices(own: str | BinaryIO | None, as_of: date | None, everything: bool) -> None:
    """List the sheets that hold on a day, with their base prices.

    Example:

    \b
    backsolve prices list --as-of 2026-03-12
    backsolve prices list --prices mine.csv
    """
    from invert.sheets.assemble import sheets
    from invert.sheets.read import load

    book = load(own)
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
@prices_option
def check_prices(own: str | BinaryIO | None) -> None:
    """Check every row of every table that ships, and of the prices on every day something changes.

    Example:

    \b
    backsolve prices check
    backsolve prices check --prices mine.csv
    """
    from invert.data import read_data
    from invert.sheets.read import book_of
    from invert.soundness import all_problems

    data = read_data()
    book = book_of(data, own)
    problems = all_problems(book, data)
    if not problems:
        click.echo(f"{len(book.rows)} rows, no problem found")
    if book.day_moved:
        say(book.day_moved)
    fail_on(problems)
