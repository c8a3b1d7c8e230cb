"""The commands for the price data: prices list, diff, news, add, check, pull."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta

import click

from backsolve.cli import options
from backsolve.cli.options import completes
from backsolve.streams import fail_on, leave_without_sheets, progress, say, tell, tell_doubts, tell_line, tell_notes, width
from derive.errors import WrongValue
from derive.files import STANDARD_INPUT, label, write
from invert.data import read_data
from invert.report.layout import laid_out
from invert.sheets.read import PROBLEM_LIMIT, book_of
from invert.sheets.rows import FileText
from invert.sheets.sheet import spelled


@click.group("prices", cls=options.Commands)
def prices_command() -> None:
    """The price data: list it, compare it, check it, add to it, pull it from databases."""


@prices_command.command("list")
@click.argument("names", nargs=-1, metavar="[MODEL|PROVIDER]...", shell_complete=completes("sheets"))
@options.prices
@options.as_of
@options.everything
@options.form("table", "json", "csv", help="Form of the answer. JSON and CSV have every price with its grade, dates and source.")
def list_prices(names: tuple[str, ...], prices: FileText | None, as_of: date | None, everything: bool, style: str) -> None:
    """List the price sheets of a day.

    A MODEL or PROVIDER selects sheets. A line has the base prices of a sheet. A sheet dated before the release of its model is left
    out, as in `infer`.

    Example:

    \b
    backsolve prices list --all
    backsolve prices list gemini-3.1-pro --as csv
    """
    from invert.sheets.assemble import rows_used
    from invert.sheets.diff import released_prices
    from invert.sheets.listing import PRICES, PUBLISHED, csv_of, listed_sheets, listed_text

    data = read_data()
    book = book_of(data, prices)
    found, notes = listed_sheets(names, data, book, as_of, everything)
    for note in notes:
        say(note)
    if style != "table":
        rows = rows_used(found, book)
        click.echo(PRICES.text(rows) if style == "json" else csv_of(rows, PUBLISHED))
    elif found:
        click.echo(listed_text(found, width()))
    for note in () if as_of else book.notes_on_day:
        say(note)
    if prices is not None or released_prices(data):
        # The prices of a release are checked already, and the check loads the solver.
        from invert.sheets.doubts import doubts_about

        tell_doubts(doubts_about((sheet.key for sheet in found), book), prices)
    if not found:
        leave_without_sheets()


@prices_command.command("diff")
@options.state_argument("old")
@options.state_argument("new")
@options.prices
@options.form("table", "json", "csv")
def diff_prices(old: str | FileText, new: str | FileText, prices: FileText | None, style: str) -> None:
    """Show the changes of prices between two states.

    These are added, closed and changed rows, and changed contexts and release dates. OLD and NEW are each a date, a price CSV, - for a
    CSV from standard input, or `shipped`. A CSV with the columns of prices.csv, such as a copy of it, replaces all prices. The rows of
    any other CSV, such as one from `prices pull`, are added to the shipped prices, and replace rows of the same price from their first
    day. If OLD and NEW are both such files, only their own rows are compared. The rows of --prices are added to the prices of a date.

    Example:

    \b
    backsolve prices diff 2026-03-12 2026-11-20
    backsolve prices diff shipped mine.csv --as csv
    """
    from invert.sheets import listing
    from invert.sheets.diff import differences, new_models, redescribed, states_of

    data = read_data()
    before, after = states_of(old, new, data, prices)
    prices_found = differences(before.rows, after.rows)
    found = [*prices_found, *redescribed(before.rows, after.rows)]
    same = len(after.rows) - sum(one.new is not None for one in prices_found)
    if style != "table":
        click.echo(listing.PRICES.text(found) if style == "json" else listing.csv_of(found, listing.DIFFERENT))
    else:
        new_ones, unreleased = new_models(before, after, data), new_models(after, before, data)
        tell(listing.differences_text(found, same, new_ones, unreleased, after.day))


@prices_command.command("news")
@click.option("--since", type=options.day, metavar="DATE", required=True, help="Print the changes after this day.")
@options.prices
@options.as_of
@options.workers("Processes that share the sheets.")
@options.form("table", "markdown", "json", help="Form of the page.")
def news_of_prices(since: date, prices: FileText | None, as_of: date | None, workers: int | None, style: str) -> None:
    """Print the price changes since a day.

    The page has their dates and sources, the estimates that they moved, and the estimates of new models.

    Example:

    \b
    backsolve prices news --since 2026-09-20
    backsolve prices news --since 2026-09-20 --as markdown
    """
    from backsolve.cli.sharing import SharedWork
    from invert.compare import infer_against
    from invert.report.changes import CHANGES, NEWS_SCHEMA, news_markdown, news_of, news_parts

    if (last := as_of or book_of(read_data(), prices).newest_retrieved) <= since:
        raise WrongValue(f"--since {since} is not before {last}, the day of the prices")
    with SharedWork(workers, "prices news") as executor:
        run, found = infer_against(str(since), prices=prices, as_of=as_of, executor=executor)
    news = news_of(run, found, since)
    forms = {"json": lambda: CHANGES.text(news, NEWS_SCHEMA), "markdown": lambda: news_markdown(news)}
    click.echo(forms[style]() if style in forms else laid_out(news_parts(news), width()))
    tell_notes(run, prices)
    fail_on(dict.fromkeys((*run.problems, *found.problems)))


@prices_command.command("add")
@click.argument("name", metavar="PROVIDER/MODEL", required=False)
@click.argument("items", nargs=-1, metavar="[NAME=VALUE]...")
@options.file("--into", "The price CSV to add to, which may be new. Without it no file is written.")
def add_prices(name: str | None, items: tuple[str, ...], into: str | None) -> None:
    """Add one sheet to a price file.

    The command checks the sheet, prints its estimates, and writes the whole file or nothing. A price in FILE without an end date ends
    on the effective_date of a later added price. NAME is a price, as component[@threshold][:lifetime], or max_context, release_date,
    currency, region, service_tier, effective_date, valid_to, retrieved_date, utc_hours, weekdays, source_url, verification, notes. A
    band with only an input or only an output price has no premium for the other one.

    Example:

    \b
    backsolve prices add acme/lm input=2 output=10 max_context=1M
    backsolve prices add acme/lm input=2 output=10 input@200k=4 --into mine.csv
    """
    from invert.inference import infer
    from invert.report.sheet import readings_table
    from invert.sheets.add import COPIED, add_to_file, addition

    if name is None:
        raise WrongValue("prices add needs a sheet: provider/model input=2 output=10")
    given, data = options.pairs("prices add", items), read_data()
    found = addition(name, given, data, into)
    for doubt in found.warnings:
        tell_line(f"warning: {doubt}")
    row, file = found.rows[0], FileText(label(into) if into else STANDARD_INPUT, found.content)
    today = book_of(data, file).newest_retrieved
    # A future sheet is shown as of its first day, an ended one as of its last day. No day is before date.min.
    nearest = min(max(row.start, today), row.end - timedelta(days=row.end > date.min))
    as_of = None if nearest == today else nearest
    table = infer([f"{row.provider}/{row.model}"], prices=file, tier=row.service_tier, as_of=as_of)
    for one in table:
        click.echo(laid_out([str(one.sheet), readings_table(one, table)], width()))
        added = {row.place for row in found.rows}
        if other := [spelled(place) for place in one.sheet.prices if place not in added]:
            tell(f"Also on this sheet, from earlier rows: {', '.join(other)}.")
    if copied := [spelled(row.place) for row in found.rows if row.notes == COPIED]:
        tell(f"Copied from the band below: {', '.join(copied)}.")
    if into is None:
        click.echo("Nothing is written: name a file with --into.")
    else:
        found = add_to_file(name, given, data, into)
        click.echo(f"{len(found.rows)} row{'s' if len(found.rows) > 1 else ''} added to {label(into)}.")
        if found.closed:
            older = ", ".join(f"{one.component} {one.amount:g} ({one.origin})" for one in found.closed)
            tell(f"These prices now end on {row.start}, the first day of the new ones: {older}.")


@prices_command.command("check")
@options.prices_argument
@options.prices
def check_prices(file: FileText | None, prices: FileText | None) -> None:
    """Check every row of every shipped table.

    The prices are checked on every day of a change. FILE, or --prices, is a CSV of your own prices, checked together with the shipped ones.

    An impossible value is an error, with exit status 2. An improbable value is a warning, with exit status 0.

    Example:

    \b
    backsolve prices check mine.csv
    """
    if file is not None and prices is not None:
        raise WrongValue("prices check reads one file, and --prices names another")

    from invert.sheets.doubts import doubtful_prices
    from invert.validation.soundness import all_problems

    data = read_data()
    book, problems = all_problems(data, prices if file is None else file)
    if book is None:
        fail_on(problems)
        return
    doubtful = [*book.far_off, *doubtful_prices(book)]
    for doubt in doubtful[:PROBLEM_LIMIT]:
        tell_line(f"warning: {doubt}")
    if doubtful[PROBLEM_LIMIT:]:
        click.echo(f"warning: {len(doubtful) - PROBLEM_LIMIT} more like these")
    if not problems:
        warned = f", {len(doubtful)} warning{'s' if len(doubtful) > 1 else ''}" if doubtful else ""
        click.echo(f"{len(book.rows)} rows, no problem found{warned}")
    if book.day_moved:
        say(book.day_moved)
    fail_on(problems)


@prices_command.command("pull")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@options.file("--into", "The file of the rows, which is created or updated.")
@options.provider
@options.file("--left-out", "Write a CSV of all offers that are left out, with the reasons.")
@click.option("--on", "on", type=options.day, metavar="DATE", help="The day of the pull. By default today, in UTC.")
def pull_prices(sources: tuple[str, ...], into: str | None, provider: tuple[str, ...], left_out: str | None, on: date | None) -> None:
    """Write the prices of databases as rows.

    SOURCE is genai-prices or litellm if that package is installed, or a JSON file of litellm, models.dev or OpenRouter. - reads a
    JSON file from standard input. Without SOURCE every installed package is read. The command uses no network. Prices that the
    shipped table has are not written again. Prices that contradict it or an earlier source are listed.

    A changed price ends, and a new row begins. An unchanged price keeps the day on which it was first read. If entries cannot be
    read, they are listed, the exit status is 2, and all others are written.

    Example:

    \b
    backsolve prices pull api.json --provider google --into market.csv
    backsolve prices pull api.json --into market.csv --left-out rest.csv
    """
    from invert.databases.pull import left_out_csv, listings, not_installed, pull, pull_lines
    from invert.sheets.append import Update, database, distinct, price_file, rivals_of, update_file, updated
    from invert.sheets.assemble import models

    if left_out and into:
        options.refuse_one_file("--left-out", left_out, [("the rivals of --into", rivals_of(into))])
    data, today = read_data(), on or datetime.now(UTC).date()
    found, problems = listings(sources)
    if not found and not problems:
        raise click.UsageError("no database of prices is installed: pip install 'backsolve[prices]', or name a JSON file of one")
    for lack in [] if sources else not_installed():
        say(lack)
    if not found:
        fail_on(problems)
    book = book_of(data)
    with progress("prices pull") as starting:
        pulled = pull(found, book, models(data), today, provider, starting)
    if into is None:
        click.echo(price_file(pulled.rows) if pulled.rows else "", nl=False)
        added = Update(counts=Counter((database(row), "added") for row in pulled.rows))
        for line in pull_lines(pulled, pulled.rivals, None, added):
            say(line)
    else:
        update = update_file(into, lambda held: updated(held, pulled.rows, today), book.fx, book.rows, pulled.rivals)
        for line in pull_lines(pulled, distinct((*pulled.rivals, *update.rivals)), into, update):
            tell(line)
        problems = [*problems, *update.later]
    if left_out is not None:
        write(left_out, left_out_csv(pulled))
    fail_on((*problems, *pulled.problems))
