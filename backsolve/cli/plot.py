"""The command `plot`: named figures of deployments, price sheets and the scoreboard."""

from datetime import date
from typing import TYPE_CHECKING, NamedTuple

import click

from backsolve.cli import options
from backsolve.cli.common import fail_on, tell, tell_doubts
from backsolve.streams import say
from backsolve.usual import CHIP, DATA_TYPE, DEPLOYED, MODEL
from derive.errors import NotCovered, UnknownName, WrongValue

if TYPE_CHECKING:
    from derive.show.chart import Chart
    from invert.sheets.files import FileText

_ALL, _FRONT = "all", "front"
_SHEETS, _SCOREBOARD = "size-price", "reliability"
"""The figure for any number of sheets, and the figure of the scoreboard. Other figures of prices show one sheet."""
_USUAL_SHEET = "gemini-3.1-pro"
"""The sheet of a figure if no sheet is named."""
_CHIPS, _MODELS = (f"{CHIP}:{DATA_TYPE}",), (MODEL,)
_SERVED = " ".join(f"{name}={value:g}" for name, value in DEPLOYED.items())


class Figure(NamedTuple):
    """A figure. A figure of a deployment has a default question, written as for `solve`. A later input replaces an earlier one.

    `drawn` is "all" for all charts, or "front" for the front of two questions. Any other text is the name of one axis for all lines.
    `example` names an equation that the answer uses. Its worked example has the values of inputs without one.
    """

    about: str
    question: str = ""
    drawn: str = _ALL
    price: str = "given"
    hardware: tuple[str, ...] = _CHIPS
    model: tuple[str, ...] = _MODELS
    example: str = ""


_FIGURES = {
    "roofline": Figure("the roofline of a chip, with the point of a decode step", f"step_time {_SERVED}"),
    "cost-batch": Figure("cost of a token over the batch", f"cost_per_token {_SERVED} batch=1..16k:log:57", price="rent"),
    "cost-context": Figure("prices of a sheet over the context, with its bands and the joint reading"),
    "latency-cost": Figure(
        "step time against cost of a token: the batches at the Pareto front",
        f"step_time,cost_per_token {_SERVED} batch=1..16k:log:15",
        _FRONT,
        "rent",
    ),
    "kv-by-estimator": Figure("KV bytes of a sheet by every estimator, with the typical KV"),
    _SHEETS: Figure("active parameters against input price: open models, fit, sheets"),
    "tier-map": Figure("cost of memory tiers over the hold time, and the prices of a sheet"),
    "tornado": Figure("how far each input moves the KV bytes of a sheet"),
    _SCOREBOARD: Figure("coverage of the ranges of every estimator on the scoreboard"),
    "pipeline-memory": Figure(
        "memory of a chip over pipeline stages, which divide only the weights",
        "memory_per_chip chips=8 context_length=32k bytes_per_element=1 batch=16,64,256 pipeline_stages=1,2,4,8,16,32",
    ),
    "training-allocation": Figure(
        "FLOPs of pre-training to one loss, and of serving, over the size of the model",
        "pretrain_flops,inference_flops loss=1.9 inference_tokens=10T prompt_share=0.8 decode_efficiency=0.3 active_params=8B..1T:log:49"
        " irreducible_loss size_loss_coefficient size_loss_exponent data_loss_coefficient data_loss_exponent",
        "FLOPs",
        hardware=(),
        model=(),
        example="training.loss_law",
    ),
}


@click.command("plot")
@click.argument("name", metavar="[NAME]", required=False)
@click.argument("items", nargs=-1, metavar="[MODEL | NAME=VALUE]...")
@click.option("--out", metavar="FILE", help="The file to write: a name that ends in .svg or .png.")
@options.hardware
@options.model
@options.prices
@options.as_of
def plot_command(
    name: str | None, items: tuple[str, ...], out: str | None, hardware: tuple[str, ...], model: tuple[str, ...],
    own: "FileText | None", as_of: date | None,
) -> None:  # fmt: skip
    """Draw a figure by its NAME into a file. Without one, list them.

    A figure of a deployment has default inputs, which NAME=VALUE changes as in `solve`. A figure of a price sheet shows MODEL, by
    default gemini-3.1-pro.

    Example:

    \b
    backsolve plot roofline --hardware B200:fp8 batch=64 --out roofline.svg
    backsolve plot cost-batch context_length=32k --out cost.png
    backsolve plot kv-by-estimator gemini-3.1-pro --out kv.svg
    """
    from backsolve.cli.question import refuse_picture

    if name is None:
        longest = max(map(len, _FIGURES))
        tell("\n".join(f"{one:<{longest}}  {figure.about}" for one, figure in _FIGURES.items()))
        return
    if name not in _FIGURES:
        raise UnknownName("figure", name, _FIGURES, "backsolve plot lists them")
    if out is None:
        raise WrongValue(f"plot {name} needs a file to write to: --out {name}.svg")
    refuse_picture("--out", out)
    figure = _FIGURES[name]
    if figure.question:
        if own is not None or as_of is not None or not all(_is_given(item) for item in items):
            raise WrongValue(f"{name} is a figure of a deployment: it needs NAME=VALUE, --hardware and --model, and no price sheet")
        _draw_answers(figure, items, hardware or figure.hardware, model or figure.model, out)
    else:
        if hardware or model or any(map(_is_given, items)):
            raise WrongValue(f"{name} is a figure of prices: it needs the MODEL of a sheet, --prices and --as-of, and no inputs")
        _draw_prices(name, items, own, as_of, out)


def _is_given(item: str) -> bool:
    """Return whether an item is an input or a limit, not a name."""
    return any(mark in item for mark in "=<>")


def _draw_answers(figure: Figure, items: tuple[str, ...], hardware: tuple[str, ...], model: tuple[str, ...], out: str) -> None:
    """Answer the questions of a figure for every deployment, and draw the answers."""
    from backsolve.cli.question import answer_charts, answer_columns, draw_into, read_question
    from derive.catalogue import equation
    from derive.solving.question.conventions import Conventions, Switches

    unknowns, *default = figure.question.split()
    using = (figure.example,) if figure.example else ()
    example = {name: text for id in using for name, text in equation(id).example.items()}
    usual = {name: text or example[name] for name, _, text in (item.partition("=") for item in default)}
    for name in _replaced_inputs(figure, hardware, model):
        usual.pop(name, None)
    switches = Switches(hardware, model, using, {}, Conventions(price=figure.price))
    asked = read_question(unknowns.split(","), items, switches, drawn=True, usual=usual)
    columns = answer_columns(asked)
    why = dict.fromkeys(text for one in columns for text in (one.refused, *(answer.why_not for answer in one.solutions)) if text)
    if why:
        raise NotCovered("\n".join(why))
    draw_into(out, _select_charts(answer_charts(asked, columns), figure.drawn), columns, asked.texts)


def _replaced_inputs(figure: Figure, hardware: tuple[str, ...], model: tuple[str, ...]) -> set[str]:
    """Return the default inputs that a named deployment replaces: the data type, and the chips for a name such as 8xH100."""
    from derive.preset_record import names_count

    counted = {"chips"} if any(map(names_count, hardware)) else set()
    return counted if (hardware, model) == (figure.hardware, figure.model) else {*counted, "bytes_per_element"}


def _select_charts(charts: "list[Chart]", drawn: str) -> "list[Chart]":
    """Return the charts of a figure. If no two questions can be compared, there is no front, and all charts are returned."""
    from derive.show.plot import is_front, sum_chart

    if drawn == _ALL:
        return charts
    return ([*filter(is_front, charts)] or charts) if drawn == _FRONT else [sum_chart(charts, drawn)]


def _draw_prices(figure: str, names: tuple[str, ...], own: "FileText | None", as_of: date | None, out: str) -> None:
    """Read the sheets of a figure, and draw their inferences."""
    from backsolve.cli.question import draw_picture
    from backsolve.figures.sheets import SHEET_FIGURES, reliability, size_price
    from invert.inference import infer
    from invert.validation.scoreboard import section_rows

    if figure == _SCOREBOARD:
        if names:
            raise WrongValue("reliability shows the whole scoreboard: leave out the MODEL")
        draw_picture(out, [reliability(section_rows("skill"))])
        return
    wanted = names or (() if figure == _SHEETS else (_USUAL_SHEET,))
    table = infer(wanted, prices=own, as_of=as_of) if wanted else None
    for note in table.notes if table else ():
        say(note)
    tell_doubts(table.doubts if table else (), own)
    sheets = [*table] if table else []
    if figure != _SHEETS and len(sheets) != 1:
        raise WrongValue(f"the figure shows one sheet, and {len(sheets)} sheets match: {', '.join(one.name for one in sheets)}")
    draw_picture(out, [size_price(sheets) if figure == _SHEETS else SHEET_FIGURES[figure](sheets[0])])
    fail_on(table.problems if table else ())
