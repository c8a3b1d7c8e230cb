"""The command `infer`: estimates from price sheets."""

import sys
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from backsolve.cli.common import (
    OneOf,
    all_option,
    as_of_option,
    fail_on,
    is_stream,
    leave,
    pairs,
    prices_option,
    processes,
    refuse_no_file,
    refuse_one_file,
    tell,
    tell_doubts,
    tier_option,
    typed_models,
    workers_option,
)
from backsolve.cli.completion import completes
from backsolve.streams import say, width
from derive.errors import NO_ANSWER, UnknownName, WrongData, WrongValue, shorten
from derive.files import called, content_or_input, write

if TYPE_CHECKING:
    from invert.comparison_records import Comparison
    from invert.result import InferenceTable, Shown
    from invert.sheets.diff import Difference
    from invert.sheets.sheet import FileText

_RECORDS = ("json", "csv")
_INFER_FORMATS = ("table", *_RECORDS, "markdown", "latex", "html")
_HISTORY_FORMATS = ("table", *_RECORDS)
_MOST_LISTED = 100
"""The most sheets of a table in the terminal. For more, a summary is printed unless columns or an order are given."""
_BESIDE_LIKE = ("like", "style", "full", "wide", "columns", "save", "workers")
"""Parameters that go together with --like: they do not change the question of the saved result."""


@click.command("infer")
@click.argument("models", nargs=-1, metavar="[MODEL]...", shell_complete=completes("sheets"))
@click.option(
    "--provider", "providers", multiple=True, metavar="P", help="Only the sheets of a provider, e.g. openai or 'open*'. May be repeated."
)
@tier_option
@as_of_option
@all_option
@prices_option
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="COMPONENT=AMOUNT",
    help="Change a price: output=15, input=+10%, input@200k=5 (or add a band), cache_write:5min=x1.5. May be repeated.",
)
@click.option(
    "--anchor", "anchors", multiple=True, metavar="NAME=VALUE", help="Replace an outside fact, e.g. active_params=60B. May be repeated."
)
@click.option(
    "--suppose",
    "supposed",
    multiple=True,
    metavar="NAME=VALUE...",
    help="Print the prices of MODEL at these values beside the published ones, e.g. kv_bytes_per_token=49kB active_params=45B.",
)
@click.option(
    "--knowledge",
    metavar="FILE",
    help="Scores of your own on benchmarks of facts: a CSV with the columns of knowledge_scores.csv.",
)
@workers_option("Processes that share the sheets. By default 1, and up to 4 for a market of hundreds.")
@click.option("--as", "style", type=OneOf(_INFER_FORMATS), default="table", help="Form of the answer.")
@click.option("--full", is_flag=True, help="For one MODEL: every reading with its numbers, and which quantities the prices determine.")
@click.option(
    "--columns", metavar="C,...", help="Columns of the table or CSV by heading or key, e.g. model,price,'KV from premium'. See --explain."
)
@click.option("--explain", is_flag=True, help="List all columns with their meaning and record.")
@click.option("--sort", "by", metavar="C", help="Sort by a column, largest numbers first (-C: smallest first), missing values last.")
@click.option(
    "--where",
    "wanted",
    multiple=True,
    metavar="NAME=PATTERN",
    help="Select by provider, model, region, tier, currency, cache or flag (a part of its words). May be repeated.",
)
@click.option("--wide", is_flag=True, help="All sheets in all columns of the table. Columns that do not fit are below each row.")
@click.option("--summary", is_flag=True, help="A summary of all sheets on one page. It is the default for more than 100 sheets.")
@click.option("--save", metavar="FILE", help="Write the result as JSON as well.")
@click.option(
    "--like", metavar="FILE", help="Repeat the question of a result of --save, even if its files have changed. - reads standard input."
)
@click.option("--history", is_flag=True, help="Print the estimates for MODEL on every day of a price change.")
@click.option(
    "--against",
    metavar="DATE|FILE|shipped",
    help="Show the changes from another day, a price CSV, a saved result, or the prices of the installed release, and the price behind"
    " each. "
    "- is a file from standard input.",
)
def infer_command(
    models: tuple[str, ...], providers: tuple[str, ...], tier: str | None, as_of: date | None, everything: bool,
    own: "str | BinaryIO | FileText | None", changes: tuple[str, ...], anchors: tuple[str, ...], workers: int | None, style: str,
    full: bool, columns: str | None, by: str | None, wanted: tuple[str, ...],
    wide: bool, summary: bool, save: str | None, against: str | None, like: str | None,
    history: bool, explain: bool, supposed: tuple[str, ...], knowledge: str | None,
) -> None:  # fmt: skip
    """Estimate KV bytes per token, the bandwidth-bound fraction and the cache tier from price sheets.

    Without MODEL the table has a row for each flagship, each sheet of your own, and each sheet with a price newer than the last release.
    --all lists every sheet of every service tier, --tier T the sheets of one tier, --provider and --where a selection. CSV, JSON and
    --save contain the current sheets of all models. With one MODEL the command prints the readings of its sheet, and all numbers with
    --full. --set first prints the changed estimates, and --against prints only these.
    --like repeats a saved question. Only --as, --full, --wide, --columns, --save and --workers go together with it.

    Example:

    \b
    backsolve infer gemini-3.1-pro --set output=15
    backsolve infer gemini-3.1-pro --set input=+10% --set input@500k=6
    backsolve infer claude-opus-4-6 --as-of 2026-03-12
    backsolve infer gemini-3.1-pro --suppose kv_bytes_per_token=49kB
    backsolve infer --prices mine.csv --save result.json
    backsolve infer --provider openai --summary
    backsolve infer --against result.json
    backsolve infer --like result.json
    backsolve infer claude-opus-4-6 --history
    backsolve infer --prices mine.csv --against shipped --as csv
    """
    from derive.units import named_texts
    from invert.assumptions import ANCHORS
    from invert.result import Shown

    if explain:
        from invert.inference import infer
        from invert.report.columns import explained
        from invert.report.layout import laid_out

        click.echo(laid_out(explained(infer()), width(sys.stdout)))
        return
    for option, value in (("--save", save), ("--against", against), ("--like", like)):
        refuse_no_file(option, value if option == "--save" or value != "-" else None)
    for option, value in (("--columns", columns), ("--sort", by)):
        if value == "":
            raise WrongValue(f"{option} needs the name of a column, e.g. price. Given ''")
    refuse_one_file("--save", save, {"--prices": own, "--against": against})
    if against == "-" and is_stream(own):
        raise WrongValue("infer reads standard input once, and - is given more than once")
    models = models or typed_models(own)
    shown = Shown(
        style=style, full=full, wide=wide, columns=columns, by=by, wanted=wanted, summary=summary, history=history, against=against
    )  # fmt: skip
    if like is not None:
        _repeat_question(like, shown, workers, save)
        return
    _refuse_form(shown)
    if history:
        _refuse_beside_history(models, changes)
    asked: dict[str, Any] = {
        "prices": own, "provider": providers, "tier": tier, "as_of": as_of, "everything": everything,
        "anchors": named_texts(anchors, ANCHORS), "knowledge": knowledge,
    }  # fmt: skip
    if supposed:
        _answer_supposed(models, supposed, asked, shown)
        return
    if history:
        _answer_with_history(models, asked, shown, workers, shown, save)
        return
    asked["changes"] = pairs("--set", changes)
    table, moved = _run_inference(models, asked, shown, workers)
    _print_answer(table, moved, shown)
    if save is not None:
        from invert.report.contract import saved

        write(save, saved(_whole_table(models, asked, shown, table), replace(shown, against=moved.file) if moved and moved.file else shown))
    _leave_without_an_answer(table, moved, shown)


_BESIDE_SUPPOSE = ("supposed", "models", "style", "tier", "as_of", "own", "anchors")
"""Parameters that go together with --suppose."""


def _answer_supposed(words: tuple[str, ...], supposed: tuple[str, ...], asked: dict[str, Any], shown: "Shown") -> None:
    """Print the prices implied by the supposed values, beside the published ones."""
    from derive.units import named_texts, parse
    from invert.assumptions import ANCHORS
    from invert.inference import infer
    from invert.report.layout import laid_out
    from invert.report.supposed import supposed_json, supposed_parts
    from invert.supposed import SUPPOSABLE

    for name, option in _typed_parameters().items():
        if name not in _BESIDE_SUPPOSE:
            raise WrongValue(f"--suppose and {option} do not go together")
    if shown.style not in ("table", "json"):
        raise WrongValue(f"--suppose is not shown as {shown.style}. Allowed: table, json")
    # --suppose reads one word. click reads the name=value words after it as models.
    models = tuple(word for word in words if "=" not in word)
    if not models:
        raise WrongValue("--suppose needs a MODEL, as gemini-3.1-pro")
    texts = named_texts((*supposed, *(word for word in words if "=" in word)), SUPPOSABLE)
    for name in texts:
        if name not in SUPPOSABLE:
            raise UnknownName("quantity of --suppose", name, SUPPOSABLE)
    values = {name: parse(name, text) for name, text in texts.items()}
    anchors = {**asked["anchors"], **{name: value for name, value in values.items() if name in ANCHORS}}
    table = infer(models, **{**asked, "anchors": anchors})
    if shown.style == "json":
        click.echo(supposed_json(table, values))
    else:
        click.echo("\n\n".join(laid_out(supposed_parts(one, table, values), width(sys.stdout)) for one in table))
    _leave_without_an_answer(table, None, shown)


def _leave_without_an_answer(table: "InferenceTable", moved: "Comparison | None", shown: "Shown") -> None:
    """Report the problems and end with the status of wrong input. Without problems and without sheets, end with the status of no answer."""
    fail_on((*table.problems, *(moved.problems if moved else ())))
    if not table and shown.against is None:
        say("no sheet holds on that day")
        leave(NO_ANSWER)


def _refuse_form(shown: "Shown") -> None:
    """Raise for options that do not go together and for unknown column names, before the inference runs."""
    from invert.report.columns import column_of, csv_names, refuse_unknown_pattern

    for name in _columns(shown):
        column_of(name)
    if shown.style == "json" and shown.columns:
        raise WrongValue("--columns does not go together with --as json, which has all columns. Choose columns with --as csv")
    if shown.style == "csv":
        csv_names(_columns(shown))
    if shown.by:
        column_of(shown.by.removeprefix("-"))
    for wanted in shown.wanted:
        refuse_unknown_pattern(wanted)
    if shown.wide and shown.columns:
        raise WrongValue("--wide and --columns do not go together: --wide shows all columns")
    otherwise: dict[str, object] = {
        "--full": shown.full, "--columns": shown.columns, "--sort": shown.by, "--wide": shown.wide, "--against": shown.against,
    }  # fmt: skip
    for option, given in otherwise.items():
        if shown.summary and given:
            raise WrongValue(f"--summary and {option} do not go together")
    for option, given in {**otherwise, "--summary": shown.summary, "--where": shown.wanted}.items():
        if shown.history and given:
            raise WrongValue(f"--history and {option} do not go together")
    if shown.history and shown.style not in _HISTORY_FORMATS:
        raise WrongValue(f"--history is not shown as {shown.style}. Allowed: {', '.join(_HISTORY_FORMATS)}")


def _run_inference(
    names: tuple[str, ...], asked: dict[str, Any], shown: "Shown", workers: int | None
) -> "tuple[InferenceTable, Comparison | None]":
    """Return the selected sheets in the requested order, and the comparison with other prices if it is shown."""
    from invert.inference import infer, infer_flagships
    from invert.sheets.assemble import TAKES_ONE

    moved: Comparison | None = None
    with processes(workers, "infer") as executor:
        if shown.against is not None or (asked["changes"] and shown.style not in _RECORDS):
            from invert.compare import infer_against
            from invert.sheets.sheet import FileText

            before = FileText(called("-"), content_or_input("-")) if shown.against == "-" else shown.against or ""
            table, moved = infer_against(before, names, **asked, executor=executor)
        elif _is_default(names, asked, shown):
            table = infer_flagships(_MOST_LISTED, **{name: value for name, value in asked.items() if name != "changes"}, executor=executor)
        else:
            table = infer(names, **asked, executor=executor)
    for note in table.notes:
        if not (shown.wanted and note.endswith(TAKES_ONE)):
            say(note)
    tell_doubts(table.doubts, asked["prices"])
    if moved:
        tell_doubts(moved.doubts, moved.file and moved.file.place)
    return _select_and_sort(table, shown.wanted, shown.by), moved


def _print_answer(table: "InferenceTable", moved: "Comparison | None", shown: "Shown") -> None:
    columns = _columns(shown)
    if shown.style == "table" and shown.against in (None, "shipped") and (text := _release_changes(table, shown.against is not None)):
        tell(text)
    if moved:
        click.echo(_render_changes(moved, shown.style))
    if shown.against is None:
        if moved:
            click.echo()
        alone = table.request.names and len(table) == 1 and shown.style not in _RECORDS and not columns
        long = len(table) > _MOST_LISTED and shown.style == "table" and not (columns or shown.wide or shown.by)
        if not table and shown.style not in _RECORDS:
            return  # The problems, printed later, say why there is no sheet.
        if shown.summary or long:
            click.echo(_render_summary(table, shown.style))
        else:
            brief = moved is not None and shown.style == "table"
            click.echo(_render_reports(table, shown.style, shown.full, brief) if alone else _render_table(table, shown, columns))


_MOST_CHANGES = 3
"""The most prices changed since the last release that are listed. The rest are counted."""


def _release_changes(table: "InferenceTable", of_others: bool) -> str:
    """Return lines about prices changed since the last release: of these sheets, or `of_others`. Without a named sheet, list all."""
    shown = {(one.sheet.provider, one.sheet.model) for one in table}
    named = bool(table.request.names or table.request.providers)
    found = [one for one in table.since_release if (one.sheet_key[:2] in shown or not named) is not of_others]
    sold = {key[:2] for key in table.base_inputs}

    def change(one: "Difference") -> str:
        key = one.sheet_key
        if one.new or key in table.base_inputs:
            return str(one)
        return "is not there any more" if key[:2] not in sold else f"({key[3].replace('_', '-')}) is not there any more"

    lines = [*dict.fromkeys(f"Changed since release: {one.row.provider} {one.row.model} {change(one)}" for one in found)]
    more = [f"and {len(lines) - _MOST_CHANGES} more: backsolve infer --against shipped"] if lines[_MOST_CHANGES:] else []
    return "\n".join([*lines[:_MOST_CHANGES], *more])


def _columns(shown: "Shown") -> list[str]:
    return [*dict.fromkeys(shown.columns.split(","))] if shown.columns else []


def _repeat_question(place: str, form: "Shown", workers: int | None, save: str | None) -> None:
    """Answer the question of a saved result, in its form unless another is given. A file written with --save keeps the first form."""
    from invert.report.contract import saved
    from invert.reproduce import arguments, changed_since, differing, saved_run

    given = _typed_parameters()
    for name, option in given.items():
        if name not in _BESIDE_LIKE:
            raise WrongValue(f"--like and {option} do not go together: the saved result contains the question")
    run = saved_run(place)
    shown = run.shown
    if "style" in given:
        shown = replace(shown, style=form.style, columns=None)
    if "columns" in given:
        shown = replace(shown, columns=form.columns, wide=False)
    if form.wide:
        shown = replace(shown, columns=form.columns, wide=True)
    shown = replace(shown, full=shown.full or form.full)
    if shown.style not in _INFER_FORMATS:
        raise WrongData(f"{run.place}: no answer has the form {shorten(shown.style)}. Allowed: {', '.join(_INFER_FORMATS)}")
    _refuse_form(shown)
    changed = changed_since(run)
    if changed:
        say(changed)
    if shown.history:
        asked = {name: value for name, value in arguments(run).items() if name != "changes"}
        _answer_with_history(run.request.names, asked, shown, workers, run.shown, save)
        _leave_if_different(not changed, run.place)
        return
    table, moved = _run_inference(run.request.names, arguments(run), shown, workers)
    if moved and shown.against is None:
        # --against does not go together with --like, and records without it contain only the sheets.
        moved = replace(moved, in_full="--as markdown")
    _print_answer(table, moved, shown)
    whole = _whole_table(run.request.names, arguments(run), shown, table)
    if save is not None:
        write(save, saved(whole, run.shown))
    _leave_without_an_answer(table, moved, shown)
    # A comparison or a history is not in the file. Only its inputs can be compared.
    others = [] if shown.against else differing(run, whole)
    where = f": {len(others)} value{'s' if others[1:] else ''} moved, first {shorten(others[0])}" if others else ""
    _leave_if_different(not (changed if shown.against else others), run.place, where)


def _leave_if_different(same: bool, place: str, where: str = "") -> None:
    """If the answer differs or may differ from the saved one, say so and end with the status of no answer."""
    if not same:
        say(f"{place}: does not reproduce: today's answer is not the saved one{where}")
        leave(NO_ANSWER)


def _typed_parameters() -> dict[str, str]:
    """Return the names of the parameters on the command line, each with its spelling there."""
    context = click.get_current_context()
    return {
        one.name: one.opts[-1] if isinstance(one, click.Option) else "MODEL"
        for one in context.command.params
        if one.name
        and context.get_parameter_source(one.name) is click.core.ParameterSource.COMMANDLINE
        and context.params.get(one.name) not in ((), None)
    }


def _refuse_beside_history(models: tuple[str, ...], changes: tuple[str, ...]) -> None:
    if not models:
        raise WrongValue("--history needs a MODEL, as gemini-3.1-pro")
    if changes:
        raise WrongValue("--history and --set do not go together")


def _answer_with_history(
    models: tuple[str, ...], asked: dict[str, Any], shown: "Shown", workers: int | None, as_first: "Shown", save: str | None
) -> None:
    """Print the estimates of sheets over time. --save writes the result of the current day, in the form of the first question."""
    from invert.history import histories
    from invert.inference import infer
    from invert.report import dates
    from invert.report.contract import saved

    with processes(workers, "infer") as executor:
        found = histories(models, **asked, executor=executor)
    forms = {"json": dates.history_json, "csv": dates.history_csv}
    click.echo(forms[shown.style](found) if shown.style in forms else dates.history_text(found, width(sys.stdout)))
    tell_doubts(found[0].doubts if found else (), asked["prices"])
    if save is not None:
        write(save, saved(infer(models, **asked), as_first))
    fail_on(dict.fromkeys(problem for one in found for problem in one.problems))


def _render_changes(moved: "Comparison", style: str) -> str:
    from invert.report import changes

    if style == "table":
        return changes.changes_text(moved, width(sys.stdout))
    forms = {"json": changes.changes_json, "csv": changes.changes_csv}
    return forms[style](moved) if style in forms else changes.changes_document(moved, style)


def _render_reports(table: "InferenceTable", style: str, full: bool, brief: bool) -> str:
    """Return a report of each sheet: on one screen, in full, or in brief below a comparison."""
    from invert.report.document import report_document
    from invert.report.layout import laid_out
    from invert.report.sheet import full_parts
    from invert.report.short import report_after_change, short_parts

    parts_of = full_parts if full else report_after_change if brief else short_parts
    reports = [parts_of(one, table) for one in table]
    return "\n\n".join(laid_out(parts, width(sys.stdout)) if style == "table" else report_document(parts, style) for parts in reports)


def _render_summary(table: "InferenceTable", style: str) -> str:
    """Return the summary of all sheets."""
    from invert.overview import overview
    from invert.report import overview as page
    from invert.report.document import report_document

    found = overview(table)
    if style in _RECORDS:
        return page.overview_json(found) if style == "json" else page.overview_csv(found)
    return page.overview_text(found, width(sys.stdout)) if style == "table" else report_document(page.overview_parts(found), style)


def _select_and_sort(table: "InferenceTable", wanted: tuple[str, ...], by: str | None) -> "InferenceTable":
    """Return the run with the selected sheets in the requested order."""
    from invert.report.columns import picked, sort_sheets
    from invert.sheets.what_if import sheet_key

    found = picked(table, wanted)
    sheets = {sheet_key(one.sheet) for one in found}
    left = frozenset(key for one in table if (key := sheet_key(one.sheet)) not in sheets)
    return replace(table, inferences=type(table.inferences)(sort_sheets(found, by) if by else found), not_picked=table.not_picked | left)


def _is_default(names: tuple[str, ...], asked: dict[str, Any], shown: "Shown") -> bool:
    """Return whether no option selects sheets. Then the table has the flagships and the new sheets."""
    chosen = (names, *(asked[name] for name in ("provider", "tier", "everything", "changes")), shown.wanted, shown.wide, shown.summary)
    return not any(chosen) and shown.style == "table" and shown.against is None


def _whole_table(names: tuple[str, ...], asked: dict[str, Any], shown: "Shown", table: "InferenceTable") -> "InferenceTable":
    """Return a table with every sheet of the question. The default table has only the sheets that it lists."""
    from invert.inference import infer

    return infer(names, **asked) if _is_default(names, asked, shown) else table


def _render_table(table: "InferenceTable", shown: "Shown", columns: list[str]) -> str:
    """Return the sheets in one table, or as records."""
    style, by = shown.style, shown.by
    if style in _RECORDS:
        from invert.report import contract

        return contract.run_as_json(table) if style == "json" else contract.run_as_csv(table, columns)
    if style != "table":
        from invert.report.document import document

        return document(table, style, columns, by)
    from invert.report.columns import WIDE_KEYS
    from invert.report.glance import glance

    return glance(table, width(sys.stdout), WIDE_KEYS if shown.wide else columns, by)
