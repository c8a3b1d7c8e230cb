"""The command `infer`: estimates from price sheets."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from backsolve.cli import options
from backsolve.cli.options import completes
from backsolve.streams import fail_on, leave, leave_without_sheets, say, tell_doubts, tell_notes, width
from derive.errors import NO_ANSWER, NotCovered, WrongData, WrongValue, shorten
from derive.files import called, content_or_input, write
from derive.tables.lines import Problem
from derive.units import named_texts
from invert.estimate_text import KV_NAMES
from invert.report.layout import laid_out
from invert.sheets.rows import FileText
from invert.sheets.rules import COMPONENTS

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from invert.comparison_records import Comparison
    from invert.result import Run, Shown

_RECORDS = ("json", "csv")
_INFER_FORMATS = ("table", *_RECORDS, "markdown", "latex", "html")


@click.command("infer", cls=options.Command)
@click.argument("models", nargs=-1, metavar="[MODEL]...", shell_complete=completes("sheets"))
@options.provider
@options.tier
@options.as_of
@options.everything
@options.prices
@click.option(
    "--set", "changes", multiple=True, metavar="PRICE=AMOUNT", help="Change a price: output=15, input=+10%, input@200k=5. May be repeated."
)
@click.option(
    "--anchor", "anchors", multiple=True, metavar="NAME=VALUE", help="Set an outside fact, e.g. active_params=60B. May be repeated."
)
@click.option(
    "--suppose", "supposed", multiple=True, metavar="NAME=VALUE...", help="Print the prices of MODEL at values such as active_params=45B."
)
@click.option("--knowledge", metavar="FILE", help="Your own scores on benchmarks of facts: a CSV as knowledge_scores.csv.")
@options.workers("Processes that share the sheets. By default 1, and up to 4 for hundreds of sheets.")
@options.form(*_INFER_FORMATS, help="Form of the answer. Without MODEL, the table has the flagships and all other forms have every model.")
@click.option("--full", is_flag=True, help="Every reading of MODEL with its numbers, and which quantities the prices determine.")
@click.option(
    "--columns", metavar="C,...", shell_complete=completes("columns"), help="Columns by heading or key, e.g. model,price. See --explain."
)
@click.option("--explain", is_flag=True, help="List all columns with their meaning and record.")
@click.option(
    "--sort", "by", metavar="C", shell_complete=completes("columns"),
    help="Sort by a column, largest numbers first (-C: smallest first), missing values last.",
)  # fmt: skip
@click.option(
    "--where", "wanted", multiple=True, metavar="NAME=PATTERN", help="Select by provider, model, region, tier, currency, cache or flag."
)
@click.option("--wide", is_flag=True, help="All sheets in all columns of the table. Columns that do not fit are below each row.")
@click.option("--summary", is_flag=True, help="A summary of all sheets on one page. It is the default for more than 100 sheets.")
@options.file("--save", "Also write the result as JSON.")
@options.file("--like", "Repeat the question of a result of --save, or of - (stdin).", reads=True)
@click.option("--history", is_flag=True, help="Print the estimates for MODEL on every day of a price change.")
@options.file(
    "--against", reads=True, metavar="DATE|FILE|shipped",
    help="Show the changes from a day, a price CSV, a saved result or the last release, with the price behind each. - is standard input.",
)  # fmt: skip
def infer_command(
    models: tuple[str, ...], prices: FileText | None, changes: tuple[str, ...], anchors: tuple[str, ...], supposed: tuple[str, ...],
    workers: int | None, save: str | None, like: str | None, explain: bool, **given: Any,
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
    backsolve infer claude-opus-4-6 --as-of 2026-03-12
    backsolve infer gemini-3.1-pro --suppose active_params=45B
    backsolve infer --prices mine.csv --save result.json
    backsolve infer --against result.json
    backsolve infer --like result.json
    """
    from invert.assumptions import ANCHORS
    from invert.report.answer import refuse_form
    from invert.result import Shown

    if explain:
        _refuse_beside("--explain", ("explain", "models"), ": it explains the columns of every table, as text")
        from invert.inference import infer
        from invert.report.columns import explained

        click.echo(laid_out(explained(infer()), width()))
        return
    form = Shown(**{name: given.pop(name) for name in Shown.__annotations__})
    if like is not None:
        _repeat_question(like, form, workers, save)
        return
    refuse_form(form)
    for option, words in (("--set", changes), ("--anchor", anchors), ("--suppose", supposed)):
        _refuse_other_kind(option, words)
    if prices is not None and prices.typed and not models:
        from invert.sheets.add import TYPED_SHEET

        models = (TYPED_SHEET,)
    asked = {**given, "names": models, "prices": prices, "anchors": named_texts(anchors, ANCHORS)}
    try:
        if supposed:
            _answer_supposed(supposed, asked, form)
        else:
            _answer(asked | {"changes": options.pairs("--set", changes)}, form, workers, save)
    except NotCovered:
        if form.style == "json" and form.against is None:
            click.echo("[]")
        raise


def _answer(asked: dict[str, Any], shown: "Shown", workers: int | None, save: str | None, repeated: "Shown | None" = None) -> "Run | None":
    """Print the answer to arguments of `infer`, and write the result, in the form of the `repeated` result if there is one.

    Return all sheets, unless the answer is a history or a comparison, which are not in a saved result.
    """
    from backsolve.cli.sharing import SharedWork
    from invert.inference import infer
    from invert.report.answer import answer_texts

    # If no option selects sheets, the table has the flagships and the new sheets.
    chosen = (asked[name] for name in ("names", "provider", "tier", "everything", "changes"))
    default = shown.style == "table" and shown.against is None and not any((*chosen, shown.wanted, shown.wide, shown.summary))
    whole = save is not None or repeated is not None
    if (shown.full or shown.history) and not asked["names"]:
        raise WrongValue(f"--{'full' if shown.full else 'history'} needs a MODEL, such as gemini-3.1-pro")
    table: Run | None
    with SharedWork(workers, "infer") as executor:
        if shown.history:
            problems = _print_history(asked, shown.style, executor)
            table, moved = infer(**asked) if save is not None else None, None
        else:
            table, moved = _run_inference(asked, shown, executor, default, whole)
            for text in answer_texts(table, moved, shown, width()):
                click.echo(text)
            problems = [*table.problems, *(moved.problems if moved else ())]
            if whole and default:
                table = infer(**asked)
    if save is not None and table is not None:
        from invert.report.contract import saved

        form = repeated or shown
        write(save, saved(table, replace(form, against=moved.file) if moved and moved.file else form))
    fail_on(dict.fromkeys(problems))
    if table is not None and not table and shown.against is None:
        leave_without_sheets()
    return None if shown.history or shown.against else table


def _refuse_beside(option: str, allowed: Collection[str], why: str = "") -> None:
    """Raise WrongValue if the command line has a parameter that does not go together with an option."""
    for name, typed in _typed_parameters().items():
        if name not in allowed:
            raise WrongValue(f"{option} and {typed} do not go together{why}")


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


def _refuse_other_kind(option: str, words: Collection[str]) -> None:
    """Raise WrongValue for a price that is given as a fact about the model, or for such a fact that is given as a price."""
    from invert.assumptions import ANCHORS

    other, names, kind = ("--anchor", ANCHORS, "an outside fact") if option == "--set" else ("--set", COMPONENTS, "a price")
    for word in words:
        if (name := re.split("[@:=]", word)[0]) in names:
            raise WrongValue(f"{option} {word}: {name} is {kind}; did you mean {other} {word}?")


def _answer_supposed(supposed: tuple[str, ...], asked: dict[str, Any], shown: "Shown") -> None:
    """Print the prices that follow from the supposed values, with the published prices."""
    from invert.assumptions import ANCHORS
    from invert.inference import infer
    from invert.report.supposed import SUPPOSED, supposed_parts, supposed_sheet, supposed_values

    _refuse_beside("--suppose", ("supposed", "models", "style", "tier", "as_of", "prices", "anchors"))
    if shown.style not in ("table", "json"):
        raise WrongValue(f"--suppose is not shown as {shown.style}. Allowed: table, json")
    # --suppose reads one word. click reads the name=value words after it as models.
    models = tuple(word for word in asked["names"] if "=" not in word)
    if not models:
        raise WrongValue("--suppose needs a MODEL, such as gemini-3.1-pro")
    values = supposed_values((*supposed, *(word for word in asked["names"] if "=" in word)))
    anchors = {**asked["anchors"], **{name: value for name, value in values.items() if name in ANCHORS}}
    table = infer(**{**asked, "names": models, "anchors": anchors})
    if shown.style == "json":
        click.echo(SUPPOSED.text([supposed_sheet(one, values) for one in table]))
    else:
        click.echo("\n\n".join(laid_out(supposed_parts(one, table, values), width()) for one in table))
    tell_notes(table, asked["prices"])
    fail_on(table.problems)
    if not table:
        leave_without_sheets()


def _repeat_question(place: str, form: "Shown", workers: int | None, save: str | None) -> None:
    """Answer the question of a saved result, in its form unless another form is given. A file of --save keeps the first form."""
    from invert.report.answer import refuse_form
    from invert.reproduce import arguments, changed_since, differing, saved_run

    _refuse_beside("--like", ("like", "style", "full", "wide", "columns", "save", "workers"), ": the saved result contains the question")
    run, typed = saved_run(place), _typed_parameters()
    shown = replace(run.shown, full=run.shown.full or form.full)
    if "style" in typed:
        shown = replace(shown, style=form.style, columns=None)
    if "columns" in typed or form.wide:
        shown = replace(shown, columns=form.columns, wide=form.wide, full=form.full)
    if shown.style not in _INFER_FORMATS:
        raise WrongData(f"{run.place}: no answer has the form {shorten(shown.style)}. Allowed: {', '.join(_INFER_FORMATS)}")
    refuse_form(shown)
    changed = changed_since(run)
    if changed:
        say(changed)
    table = _answer(arguments(run), shown, workers, save, repeated=run.shown)
    # A comparison or a history is not in the file. Only its inputs can be compared.
    others = [changed] * bool(changed) if table is None else differing(run, table)
    if others:
        moved = f": {len(others)} value{'s' if others[1:] else ''} moved, first {shorten(others[0])}" if table is not None else ""
        say(f"{run.place}: does not reproduce: the answer now differs from the saved one{moved}")
        leave(NO_ANSWER)


def _print_history(asked: dict[str, Any], style: str, executor: "Executor") -> Sequence[Problem]:
    """Print the estimates of sheets over time. Return the problems of their tables."""
    from invert.compare import histories
    from invert.report.answer import history_answer

    if asked["changes"]:
        raise WrongValue("--history and --set do not go together")
    run, found = histories(**{name: value for name, value in asked.items() if name != "changes"}, executor=executor)
    click.echo(history_answer(found, style, width()))
    if found:
        tell_notes(run, asked["prices"])
    return [problem for one in found for problem in one.problems]


def _run_inference(
    asked: dict[str, Any], shown: "Shown", executor: "Executor", default: bool, whole: bool
) -> "tuple[Run, Comparison | None]":
    """Return the selected sheets in the requested order, and the comparison with other prices if it is shown.

    The `default` table has the flagships and new sheets. A `whole` result has more data than the usual tables, to be saved or compared.
    """
    from invert.inference import Extent, run_of
    from invert.report.answer import MOST_LISTED, select_changes, select_sheets
    from invert.sheets.assemble import TAKES_ONE

    moved: Comparison | None = None
    if shown.against is not None or (asked["changes"] and shown.style not in _RECORDS):
        from invert.compare import infer_against

        before = FileText(called("-"), content_or_input("-")) if shown.against == "-" else shown.against or ""
        table, moved = infer_against(before, **asked, executor=executor)
    else:
        # The usual columns need no posterior, and print the record of one estimator. The short report of a model needs its own posterior,
        # and the tables that it reads.
        usual = shown.style == "table" and not (whole or shown.full or shown.columns or shown.by or shown.wide)
        plain = tuple(name for name in KV_NAMES if name != "from_all_prices" or not usual)
        extent = Extent(
            estimators=plain if default else tuple(KV_NAMES),
            judged=("from_premium",) if usual else plain,
            checks_tables=not (usual and asked["names"]),
        )
        _, _, table = run_of(extent=extent, **asked, most_flagships=MOST_LISTED if default else 0, executor=executor)
    for note in table.notes:
        if not (shown.wanted and note.endswith(TAKES_ONE)):
            say(note)
    tell_doubts(table.doubts, asked["prices"])
    if moved:
        tell_doubts(moved.doubts, moved.file and moved.file.place)
    table = select_sheets(table, shown)
    return table, moved and select_changes(moved, table, shown)
