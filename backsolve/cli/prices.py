"""The commands about the price data itself: prices list, prices check, prices pull."""

import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, BinaryIO

import click

from backsolve.cli.common import Commands, all_option, as_of_option, day, fail_on, prices_option, tell
from backsolve.streams import say

if TYPE_CHECKING:
    from invert.sheets.append import Rival, Update
    from invert.sheets.databases.pull import Pulled

RIVALS_SHOWN = 10


@click.group(cls=Commands)
def prices() -> None:
    """The price data: list it, check it, pull it from databases."""


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


@prices.command("pull")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@click.option("--into", metavar="FILE", help="The file that the rows go to: made, or brought up to date.")
@click.option(
    "--provider", "providers", multiple=True, metavar="P", help="Only what one provider sells, e.g. google or open*; may be repeated."
)
@click.option("--on", "on", type=day, metavar="DATE", help="The day of the pull; by default today, in UTC.")
def pull_prices(sources: tuple[str, ...], into: str | None, providers: tuple[str, ...], on: date | None) -> None:
    """Write the prices of databases as rows of this schema.

    SOURCE is genai-prices or litellm, where that package is installed, or a JSON file of litellm, models.dev or
    OpenRouter. Without SOURCE, every package that is installed; nothing is asked of a network. What the shipped prices
    have is not written again, and what contradicts them or an earlier source is listed.

    Example:

    \b
    backsolve prices pull api.json --into market.csv
    backsolve prices pull api.json --provider google --into market.csv
    """
    from invert.data import read_data
    from invert.sheets.append import Update, database, price_file, update_file, updated
    from invert.sheets.assemble import models
    from invert.sheets.databases.found import listings
    from invert.sheets.databases.pull import pull
    from invert.sheets.read import book_of

    if into == "":
        raise click.BadParameter("it needs the name of a file to write; given ''", param_hint="--into")
    data, today = read_data(), on or datetime.now(UTC).date()
    found, problems = listings(sources)
    if not found and not problems:
        raise click.UsageError("no database of prices is installed: pip install 'backsolve[prices]', or name a JSON file of one")
    book = book_of(data)
    pulled = pull(found, book, models(data), today, providers, _step())
    if into is None:
        click.echo(price_file(pulled.rows), nl=False)
        _tell_of(pulled, pulled.rivals, None, Update(counts=Counter((database(row), "added") for row in pulled.rows)), say)
    elif found:
        update = update_file(into, lambda held: updated(held, pulled.rows, today), book.fx, book.rows, pulled.rivals)
        _tell_of(pulled, (*pulled.rivals, *update.rivals), into, update, tell)
        problems = [*problems, *update.later]
    fail_on((*problems, *pulled.problems))


def _step() -> Callable[[str], object]:
    """Says how far the work is, on a terminal; elsewhere nothing."""
    if sys.stderr is None or not sys.stderr.isatty():
        return lambda _: None
    return lambda text: say(f"{text} ...")


BECAME = {"added": "added", "changed": "changed", "ended": "ended", "kept": "unchanged"}


def _tell_of(pulled: "Pulled", rivals: "tuple[Rival, ...]", into: str | None, update: "Update", line: Callable[[str], None]) -> None:
    """What became of what the databases list, every entry counted once."""
    by_source = Counter(one.row.notes.partition(" ")[0] for one in rivals)
    for name, sheets in pulled.listed.items():
        prices = ", ".join(f"{update.counts.get((name, what), 0)} {word}" for what, word in BECAME.items())
        listed, agreeing = f"{sheets} sheet{'' if sheets == 1 else 's'} listed", pulled.agreeing.get(name, 0)
        line(f"{name}: {listed}; prices: {prices}; {by_source[name]} disagreeing, {agreeing} agreeing with a firmer source")
    copies = sum(pulled.copies.values())
    if copies:
        most = ", ".join(f"{name} {count}" for name, count in Counter(pulled.copies).most_common(3))
        line(f"left out {copies} sheets that ask what another one of the model asks ({most})")
    if pulled.not_taken:
        why = Counter(one.because.partition(":")[0] for one in pulled.not_taken).most_common()
        more = f"; {sum(count for _, count in why[4:])} for other reasons" if why[4:] else ""
        line(f"left out {len(pulled.not_taken)} entries: " + "; ".join(f"{count} {reason}" for reason, count in why[:4]) + more)
    for one in rivals[:RIVALS_SHOWN]:
        line(f"disagreeing: {one}")
    if rivals[RIVALS_SHOWN:]:
        where = "" if into is None else "; all are in the file of rivals beside it"
        line(f"disagreeing: {len(rivals) - RIVALS_SHOWN} more{where or '; --into lists them all in a file'}")
    if into is not None:
        line(f"{into}: " + ", ".join(f"{update.count(what)} {word}" for what, word in BECAME.items()))
