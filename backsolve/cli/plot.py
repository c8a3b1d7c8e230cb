"""The command `plot`: named figures of deployments, price sheets and the scoreboard."""

import re
from datetime import date

import click

from backsolve.cli import options
from backsolve.figures.named import FIGURES, SCOREBOARD, SHEETS, USUAL_SHEET, Figure, default_inputs, select_charts
from backsolve.figures.picture import draw_picture, refuse_picture
from backsolve.streams import fail_on, tell_notes, tell_rows
from derive.errors import NotCovered, UnknownName, WrongValue
from invert.sheets.rows import FileText


@click.command("plot", cls=options.Command)
@click.argument("name", metavar="[NAME]", required=False, shell_complete=options.completes("figures"))
@click.argument("items", nargs=-1, metavar="[MODEL | NAME=VALUE]...", shell_complete=options.completes("sheets", "quantities"))
@options.file("--out", "The file to write: a name that ends in .svg or .png.")
@options.hardware
@options.model
@options.prices
@options.as_of
def plot_command(
    name: str | None, items: tuple[str, ...], out: str | None, hardware: tuple[str, ...], model: tuple[str, ...],
    prices: FileText | None, as_of: date | None,
) -> None:  # fmt: skip
    """Draw a figure by its NAME into a file. Without one, list them.

    A figure of a deployment has default inputs. NAME=VALUE changes them, as in `solve`. A figure of a price sheet shows MODEL, by
    default gemini-3.1-pro.

    Example:

    \b
    backsolve plot roofline --hardware B200:fp8 batch=64 --out roofline.svg
    backsolve plot cost-batch context_length=32k --out cost.png
    backsolve plot kv-by-estimator gemini-3.1-pro --out kv.svg
    """
    if name is None:
        tell_rows((one, figure.about) for one, figure in FIGURES.items())
        return
    if name not in FIGURES:
        raise UnknownName("figure", name, FIGURES, "backsolve plot lists them")
    if out is None:
        raise WrongValue(f"plot {name} needs a file to write to: --out {name}.svg")
    refuse_picture("--out", out)
    figure = FIGURES[name]
    inputs = [item for item in items if re.search("[=<>]", item)]
    if figure.question:
        if prices is not None or as_of is not None or len(inputs) < len(items):
            raise WrongValue(f"{name} is a figure of a deployment: it needs NAME=VALUE, --hardware and --model, and no price sheet")
        _draw_answers(figure, items, hardware or figure.hardware, model or figure.model, out)
    else:
        if hardware or model or inputs:
            raise WrongValue(f"{name} is a figure of prices: it needs the MODEL of a sheet, --prices and --as-of, and no inputs")
        _draw_prices(name, items, prices, as_of, out)


def _draw_answers(figure: Figure, items: tuple[str, ...], hardware: tuple[str, ...], model: tuple[str, ...], out: str) -> None:
    """Answer the questions of a figure for every deployment, and draw the answers."""
    from backsolve.cli.question import answer_charts, answer_columns, draw_into, read_question
    from derive.solving.question.conventions import Conventions, Switches

    switches = Switches(hardware, model, (figure.example,) if figure.example else (), {}, Conventions(price=figure.price))
    asked = read_question(figure.unknowns, items, switches, drawn=True, usual=default_inputs(figure, hardware, model))
    columns = answer_columns(asked)
    why = dict.fromkeys(text for one in columns for text in (one.refused, *(answer.why_not for answer in one.solutions)) if text)
    if why:
        raise NotCovered("\n".join(why))
    draw_into(out, select_charts(answer_charts(asked, columns), figure.drawn), columns, asked.texts)


def _draw_prices(figure: str, names: tuple[str, ...], prices: FileText | None, as_of: date | None, out: str) -> None:
    """Read the sheets of a figure, and draw their inferences."""
    from backsolve.figures.sheets import SHEET_FIGURES, reliability, size_price
    from invert.inference import infer
    from invert.validation.scoreboard import section_rows

    if figure == SCOREBOARD and names:
        raise WrongValue("reliability shows the whole scoreboard: leave out the MODEL")
    if figure in (SCOREBOARD, SHEETS) and not names:
        draw_picture(out, [reliability(section_rows("skill")) if figure == SCOREBOARD else size_price([])])
        return
    table = infer(names or (USUAL_SHEET,), prices=prices, as_of=as_of)
    tell_notes(table, prices)
    sheets = [*table]
    if figure != SHEETS and len(sheets) != 1:
        raise WrongValue(f"the figure shows one sheet, and {len(sheets)} sheets match: {', '.join(one.name for one in sheets)}")
    draw_picture(out, [size_price(sheets) if figure == SHEETS else SHEET_FIGURES[figure](sheets[0])])
    fail_on(table.problems)
