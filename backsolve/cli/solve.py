"""The command `solve`: any quantity from the given ones."""

import os
import re
import shlex
import sys
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice, product
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from backsolve.cli.common import OneOf, fail_on, leave, report_problems, tell
from backsolve.cli.completion import completes
from backsolve.streams import in_a_line, in_terminal, say, width
from derive.errors import INPUT_IS_WRONG, NO_ANSWER, BacksolveError, NoRent, NotCovered, WrongData, WrongValue, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from derive.answers import Result
    from derive.show.plot import Panel
    from derive.show.side_by_side import Column
    from derive.solving.api import Given
    from derive.solving.conventions import Conventions
    from derive.solving.result import Solution
    from derive.solving.sufficient_givens import Ask, Enough
    from derive.tables.problems import Problem

    Deployment = tuple[tuple[str, ...], tuple[str, ...]]
    Asked = tuple[str, tuple[Result, ...], Deployment]
    Again = Callable[[str, Result, Deployment], Solution]

_SOLVE_FORMATS = ("table", "json", "csv", "latex", "markdown")
_PRICES = ("given", "rent")
_LINES_AT_ONCE = 1000
"""The number of lines of an answer that are formatted and written together."""
_MOST_LISTED = 1000
"""The most points of a sweep that are listed beside a picture."""
_LONG = 100_000
"""The most points of a table that is printed without a notice to wait."""


@click.command("solve")
@click.argument("unknown", metavar="UNKNOWN[,UNKNOWN]...", shell_complete=completes("quantities"))
@click.argument("given", nargs=-1, metavar="[NAME=VALUE]...", shell_complete=completes("quantities"))
@click.option("--using", multiple=True, metavar="ID", help="Join a condition, heuristic or variant by its id. May be repeated.")
@click.option(
    "--hardware",
    multiple=True,
    metavar="NAME[:DTYPE]",
    shell_complete=completes("chips"),
    help="Use the figures of a chip, e.g. H100-SXM:fp8. Several chips give one column for each.",
)
@click.option(
    "--model",
    multiple=True,
    metavar="NAME",
    shell_complete=completes("models"),
    help="Use the figures of an open model, e.g. DeepSeek-V3, or of a config.json.",
)
@click.option(
    "--zip",
    "zipped",
    is_flag=True,
    help="Combine the first items of all lists, the second items, and so on. By default all are combined with all.",
)
@click.option("--overlap", metavar="NAME", help="How compute and memory time combine: max (default), sum, kv_plus_max, network, exposed.")
@click.option("--count", default="flop", metavar="flop|mac", help="Count typed figures in flop (default), or in multiply-adds of 2 FLOP.")
@click.option(
    "--bytes", "sizes", default="decimal", metavar="decimal|binary", help="Meaning of 1 GB of memory: 10^9 (default) or 2^30 bytes."
)
@click.option(
    "--efficiency",
    default="ideal",
    metavar="ideal|calibrated",
    help="Share of the peaks that is reached: all (default), or mfu, mbu and layer_time as measured (efficiencies.csv).",
)
@click.option(
    "--price", default="given", metavar="given|rent", help="Price of a chip: as given (default), or its median rent in the table."
)
@click.option("--tier", default="", metavar="NAME", help="Use capacity, bandwidth and price of a storage tier or device, e.g. nvme.")
@click.option("--strict", is_flag=True, help="Use definitions and bounds alone: no reading, condition or rule of thumb.")
@click.option("--anyway", is_flag=True, help="Answer even if weights and KV cache do not fit in memory.")
@click.option(
    "--full", is_flag=True, help="Print the whole answer: formulas and ids of the route, every input with its source, all assumptions."
)
@click.option("--plot", metavar="FILE", help="Draw a sweep, or a chip's roofline: .svg or .png by the extra plot, or -.")
@click.option("--as", "style", type=OneOf(_SOLVE_FORMATS), default="table", help="Form of the answer.")
def solve_command(
    unknown: str, given: tuple[str, ...], using: tuple[str, ...], hardware: tuple[str, ...], model: tuple[str, ...], zipped: bool,
    overlap: str | None,
    count: str, sizes: str, efficiency: str, price: str, tier: str, strict: bool, anyway: bool, plot: str | None, full: bool, style: str,
) -> None:  # fmt: skip
    """Solve for UNKNOWN, one quantity or several, from the given values, through any number of equations.

    Values have units: active_params=37B context_length=200k hbm_bandwidth=3.35TB/s chip_price='2 USD/h' ttl=5min.
    A value may be a range (active_params=80B..120B mfu=0.4±0.1), a list (batch=1,8,64 or batch='128;256'),
    a sweep (batch=1..4096:log:13) or a limit of a result ('step_time<=30ms' 'throughput>=2000').

    Short names: ttft, tpot, isl, osl, qps, gpus, tp, ctx, kv, max_batch, rent, margin.
    Also dtype (of weights and arithmetic), kv_dtype (of the cache), attention=tp|dp and experts=tp|ep (how chips share a model).

    Example:

    \b
    backsolve solve balance_batch machine_balance_ratio=300 sparsity=8
    backsolve solve sweep_time --hardware H100-SXM:fp8
    backsolve solve sweep_time,ridge_point --hardware H100,B200:fp8
    backsolve solve step_time compute_time=8ms memory_time=1ms..16ms:log:5
    backsolve solve storage_tier ttl=1h

    If definitions and bounds lead to no answer, a reading of prices, a condition or a rule of thumb gives it. The first line names it.
    --using selects one, --strict leaves all of them out.
    """
    if unknown.strip().lower() in ("storage_tier", "cache_tier"):
        from backsolve.cli.tiers import print_tiers

        if strict or using or hardware or model or tier or plot is not None:
            raise WrongValue(
                "storage_tier follows from ttl by the drain-time rule: leave out --strict, --using, --hardware, --model, --tier, --plot"
            )
        print_tiers(given, style, full)
        return
    from derive.answers import NO_WHOLE_ONE
    from derive.layouts import split_layout_texts
    from derive.quantities import meant_beside, quantity, says_tensor_parallel
    from derive.show.parts import all_warnings
    from derive.show.text import lines
    from derive.solving.api import may_have_answer, respond, respond_all
    from derive.solving.budgets import split_money_rates
    from derive.solving.conventions import Conventions, Switches
    from derive.solving.switches import implied_names
    from derive.units import data_type_named, named_texts

    if "=" in unknown:
        raise WrongValue(f"{shorten(unknown)} is an input. The unknown comes first: backsolve solve UNKNOWN name=value ...")
    _refuse_options(given)
    variants = {} if overlap is None else {"overlap": overlap}
    layouts, given = split_layout_texts(given)
    conventions = Conventions(count=count, bytes=sizes, efficiency=efficiency, price=price, tier=tier, layouts=layouts)
    words = unknowns = list(dict.fromkeys(name.strip() for name in unknown.split(",") if name.strip())) or [unknown]
    beside_names = implied_names(using, variants, hardware, model)
    typed = {**split_money_rates(unknowns, named_texts(given, asked=unknowns, beside=beside_names))}
    said = [re.split("[<>=≤≥]", one)[0] for one in given]
    dtype = data_type_named(said, typed.get("bytes_per_weight"))
    conventions = replace(conventions, tensor_parallel=says_tensor_parallel(said), dtype=dtype)
    unknowns = [meant_beside(name, (*unknowns, *typed, *beside_names)) for name in unknowns]
    refuse_long(typed)
    texts: dict[str, Given] = {**typed}
    if plot is not None:
        _refuse_form(plot, style)
        texts = as_drawn(typed, conventions, zipped)
    deployments = each_deployment(hardware, model, zipped)
    of_each = each_value(texts, conventions, len(deployments)) if zipped and len(deployments) > 1 else {}

    def bad_rows() -> "tuple[Problem, ...]":
        if not (hardware or model or conventions.efficiency == "calibrated"):
            return ()
        from derive.preset_rows import Efficiency, FittedEfficiency
        from derive.presets import problems_of
        from derive.tables.shipped import problems

        chips, models = ([name for one in deployments for name in one[place]] for place in (0, 1))
        return (
            *problems_of(chips, models),
            *(problems(Efficiency, FittedEfficiency) if conventions.efficiency == "calibrated" else ()),
        )

    def switches_of(chips: "Sequence[str]", models: "Sequence[str]", conventions: Conventions = conventions) -> Switches:
        return Switches(chips, models, using, variants, conventions, anyway, zipped)

    def solved_with(own: "Mapping[str, Given]") -> "Callable[..., tuple[Solution, ...]]":
        def solved(chips: tuple[str, ...], models: tuple[str, ...], priced: str = price) -> "tuple[Solution, ...]":
            given = {**texts, **own}
            return respond_all(unknowns, given, switches_of(chips, models, replace(conventions, price=priced)), strict)

        return solved

    def resolve(name: str, found: "Result", deployment: "Deployment") -> "Solution":
        own = {spelled: found.given[called] for spelled, (called, _) in of_each.items() if called in found.given}
        known: dict[str, Given] = {**texts, **own, found.unknown: found.answers[0].point}
        return respond(name, known, switches_of(*deployment))

    if len(deployments) > 1:
        own_givens = [{name: values[at] for name, (_, values) in of_each.items()} for at in range(len(deployments))]
        found = [answered_column(*one, solved_with(own)) for one, own in zip(deployments, own_givens, strict=True)]
        columns = [with_own(one, own) for one, own in zip(named_apart(found), own_givens, strict=True)]
        panels = [] if plot is None else asked_panels([(one.name, one.solutions, (one.hardware, one.model)) for one in columns], resolve)
        _side_by_side(columns, style, full)
        if plot is not None:
            draw_into(plot, panels, [((*one.hardware, *one.model), one.solutions) for one in columns], typed)
        fail_on(bad_rows())
        return
    solutions = solved_with({})(*deployments[0])
    panels = [] if plot is None or not all(one.answers for one in solutions) else asked_panels([("", solutions, deployments[0])], resolve)
    first = solutions[0]
    if zipped and len(first.sweep.given if first.sweep else ()) < 2:
        raise WrongValue("--zip needs two lists: of --hardware and --model, or of inputs")
    points = max(len(one.sweep) if one.sweep else 0 for one in solutions)
    if style == "table" and plot is None and points > _LONG and in_terminal(sys.stderr):
        say(f"{points:,} points are formatted in columns (--as csv is faster) ...")
    shown = lines(solutions, style, full, width(sys.stdout))
    if style == "table":
        named = {quantity(name).name: word for name, word in zip(unknowns, words, strict=True)}
        other = {name: word for name, word in named.items() if word != name}
        shown = _add_typed_words(shown, other) if other else shown
    if plot is not None and style == "table" and points > _MOST_LISTED:
        tell(f"{points:,} points, drawn and not listed: --as csv lists them", style)
    elif style != "table" or any(one.answers for one in solutions):
        _print(shown, style)
    for warning in all_warnings(*solutions) if style != "table" else ():
        say(warning)
    bad = report_problems(bad_rows())
    refused = [one for one in solutions if not one.answers]

    def answer_with(values: "Mapping[str, Given]", chips: "Sequence[str]", models: "Sequence[str]") -> "Callable[[str], Solution]":
        return lambda name: respond(name, values, switches_of(chips, models))

    def may_be(name: str) -> bool:
        return may_have_answer(name, texts, switches_of(*deployments[0]))

    for why in dict.fromkeys(_refusal_lines(refused, texts, deployments[0], answer_with, may_be)):
        say(why)
    if plot is not None and not refused:
        draw_into(plot, panels, [((*chain(*deployments[0]),), solutions)], typed)
    if refused or any(NO_WHOLE_ONE in one.kinds for one in solutions):
        leave(NO_ANSWER)
    if bad:
        leave(INPUT_IS_WRONG)


def _refusal_lines(
    refused: "Sequence[Solution]",
    given: "Mapping[str, Given]",
    deployment: "Deployment",
    ask: "Ask",
    may_be: "Callable[[str], bool]",
) -> list[str]:
    """Return the reasons why questions have no answer. If usual values would answer all of them, add a command with these values.

    Add the command only if every reason has one line, because messages are short.
    """
    if not refused:
        return []
    from derive.quantities import QUANTITIES
    from derive.solving.sufficient_givens import Enough, answered_beside, sufficient_givens

    said, found = [], Enough({}, *deployment)
    covered = True
    for one in refused:
        reason = one.refusal
        near = answered_beside(ask, may_be, one.unknown, given, deployment) if reason.missing else None
        further = sufficient_givens(ask, one.unknown, given, deployment, reason, found) if reason.missing and not near else None
        covered, found = covered and further is not None, further or found
        instead = f"what is given answers {near}: {QUANTITIES[near].meaning}" if near else ""
        said.append(f"{reason.message}\n{instead}".rstrip())
    fit = not any("\n" in why for why in said)
    own = f", with your own values for {', '.join(found.given)}" if found.given else ""
    example = f"for example{own}: {_command_line(found)}"
    if in_a_line(example) != example:
        # The whole command would be cut, and a part of it cannot be run.
        options = [("--hardware", name) for name in found.hardware] + [("--model", name) for name in found.model]
        new = [word for option, name in options if name not in (*deployment[0], *deployment[1]) for word in (option, name)]
        example = f"for example{own}, add: {shlex.join([*new, *(f'{name}={text}' for name, text in found.given.items())])}"
    return [*said, example] if covered and fit else said


def _command_line(found: "Enough") -> str:
    """Return the command line with the missing values added."""
    context = click.get_current_context()
    options = [("--hardware", one) for one in found.hardware] + [("--model", one) for one in found.model]
    for option in (one for one in context.command.params if isinstance(one, click.Option) and one.name not in ("hardware", "model")):
        if option.name and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            value = context.params[option.name]
            options += [(option.opts[0], *(() if option.is_flag else (one,))) for one in (value if option.multiple else (value,))]
    more = (f"{name}={text}" for name, text in found.given.items())
    words = [context.params["unknown"], *chain.from_iterable(options), *context.params["given"], *more]
    return f"backsolve solve {shlex.join(words)}"


def _print(shown: "Iterator[str]", style: str) -> None:
    while part := list(islice(shown, _LINES_AT_ONCE)):
        tell("\n".join(part), style)


def _add_typed_words(shown: "Iterable[str]", words: "Mapping[str, str]") -> "Iterator[str]":
    """Yield the lines of answers. The first line of each answer has the typed word beside the name of the unknown.

    >>> [*_add_typed_words(["step_time = 2.8 ms", "step_time = memory_time"], {"step_time": "tpot"})]
    ['step_time (tpot) = 2.8 ms', 'step_time = memory_time']
    """
    left = dict(words)
    for line in shown:
        name = re.split(r" \[| >?=|:", line, maxsplit=1)[0]
        word = left.pop(name, None)
        yield line if word is None else f"{name} ({word}){line.removeprefix(name)}"


def each_deployment(hardware: tuple[str, ...], model: tuple[str, ...], zipped: bool) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the deployments: all chips with all models, or pairs if `zipped`.

    >>> each_deployment(("H100,B200:fp8",), ("Llama-3.1-70B",), False)
    [(('H100:fp8',), ('Llama-3.1-70B',)), (('B200:fp8',), ('Llama-3.1-70B',))]
    """
    lists = [_split_names(text, typed) for texts, typed in ((hardware, True), (model, False)) for text in texts]
    if zipped:
        longest = max(map(len, lists), default=1)
        if any(len(one) not in (1, longest) for one in lists):
            raise WrongValue("--zip needs lists of --hardware and --model of equal length")
        rows = [*zip(*(one * longest if len(one) == 1 else one for one in lists), strict=True)] or [()]
    else:
        rows = [*product(*lists)]
    return [(row[: len(hardware)], row[len(hardware) :]) for row in rows]


def each_value(texts: "Mapping[str, Given]", conventions: "Conventions", many: int) -> "dict[str, tuple[str, tuple[float, ...]]]":
    """Return the lists of inputs to zip with `many` deployments, by their typed name: the quantity, and its values.

    Raise WrongValue for lists of another length.

    >>> from derive.solving.conventions import USUAL_CONVENTIONS
    >>> each_value({"B": "64;128", "chips": "8"}, USUAL_CONVENTIONS, 2)
    {'B': ('batch', (64.0, 128.0))}
    """
    from derive.quantities import quantity
    from derive.solving.givens import spread
    from derive.spreads import Series
    from derive.units import signed

    found = {}
    for spelled, text in texts.items():
        name = quantity(spelled).name
        one = spread(name, text, conventions.read) if isinstance(text, str) and not signed(text) else None
        if isinstance(one, Series) and one.values:
            if len(one) != many:
                raise WrongValue(f"{name} ({len(one)}) and --hardware and --model ({many}): lists that are zipped must be equally long")
            found[spelled] = (name, one.values)
    return found


def with_own(column: "Column", own: "Mapping[str, float]") -> "Column":
    """Return the deployment with the inputs that only it has in its name."""
    from derive.quantities import quantity
    from derive.units import show

    said = [f"{name}={show(quantity(name).name, value)}" for name, value in own.items()]
    return replace(column, name=" ".join((column.name, *said)))


def _split_names(text: str, typed: bool) -> list[str]:
    """Return the names of a list. Chips without a data type get the data type of the last one if they support it."""
    from derive.presets import has_data_type

    *names, last = [name.strip() for name in text.split(",") if name.strip()] or [text]
    _, colon, dtype = last.partition(":")
    takes = [typed and bool(colon) and ":" not in name and has_data_type(name, dtype) for name in names]
    return [*(f"{name}:{dtype}" if taken else name for name, taken in zip(names, takes, strict=True)), last]


def answered_column(chips: tuple[str, ...], models: tuple[str, ...], solved: "Callable[..., tuple[Solution, ...]]") -> "Column":
    """Return a deployment with its answers, or with the reason why the tables do not cover it.

    A deployment without a rent has the answers that need no price.
    """
    from derive.show.side_by_side import Column

    name = " ".join((*chips, *models))
    try:
        return Column(name=name, hardware=chips, model=models, solutions=solved(chips, models))
    except NoRent as error:
        without = solved(chips, models, _PRICES[0])
        return Column(
            name=name, hardware=chips, model=models, solutions=without if any(one.answers for one in without) else (), refused=str(error)
        )
    except NotCovered as error:
        return Column(name=name, hardware=chips, model=models, solutions=(), refused=str(error))


def _refuse_form(place: str, style: str) -> None:
    if place == "-" and style != "table":
        raise WrongValue(f"--plot - draws below the table, and would be inside the {style}: write to a file that ends in .svg or .png")
    if place != "-" and not place.lower().endswith((".svg", ".png")):
        raise WrongValue(f"--plot {shorten(place)[1:-1]}: write to a file that ends in .svg or .png, or - for the terminal")


def asked_panels(columns: "list[Asked]", again: "Again") -> "list[Panel]":
    """Return the panels to draw: the sweeps, or without a sweep the rooflines of the chips with the step of each."""
    from derive.show.plot import panels, roofline
    from derive.show.roofline import roof

    answered = [one for one in columns if one[1]]
    if any(solution.sweep for _, solutions, _ in answered for solution in solutions):
        return panels([(name, solutions) for name, solutions, _ in answered])
    roofs = [roof(name, _step_numbers(solutions, deployment, again)) for name, solutions, deployment in answered]
    found = [one for one in roofs if one]
    return [roofline(found)] if found else panels([(name, solutions) for name, solutions, _ in answered])


def _step_numbers(solutions: "tuple[Result, ...]", deployment: "Deployment", again: "Again") -> "dict[str, float]":
    """Return the known numbers of a step: the answers, and the times that follow from them."""
    from derive.show.roofline import STEPS, known_numbers

    known: dict[str, float] = {}
    for solution in solutions:
        known |= known_numbers(solution)
    answered = next((one for one in solutions if one.answers), None)
    for name in STEPS if answered else ():
        with suppress(BacksolveError):
            known |= known_numbers(again(name, answered, deployment)) if answered and name not in known else {}
    return known


def as_drawn(texts: "Mapping[str, str]", conventions: "Conventions", zipped: bool) -> "dict[str, Given]":
    """Return the inputs to draw: ranges as sweeps, and sweeps of counts in whole numbers. The quantity of the x axis is last."""
    from derive.show.plot import plotted_values
    from derive.solving.givens import spread
    from derive.spreads import Interval, Series
    from derive.units import signed

    spans = {name: spread(name, text, conventions.read) for name, text in texts.items() if not signed(text)}
    ranges = [name for name, found in spans.items() if isinstance(found, Interval)]
    series = {name: found for name, found in spans.items() if isinstance(found, Series)}
    sweeps = [name for name, found in series.items() if found.count]
    # The x axis is a sweep, else the last range, else the longest list. All others are lines.
    longest = sorted(sweeps or series, key=lambda name: len(series[name]))[-1:]
    across = [] if zipped else longest if sweeps else ranges[-1:] or longest
    lines = [name for name in ranges if name not in across]
    found = {name: plotted_values(name, one, name in lines) for name, one in spans.items()}
    ordered = [*lines, *(name for name in texts if name not in (*ranges, *across)), *across]
    return {name: found.get(name) or texts[name] for name in ordered}


def draw_into(
    place: str, found: "list[Panel]", columns: "list[tuple[tuple[str, ...], tuple[Result, ...]]]", texts: "Mapping[str, str]"
) -> None:
    """Draw panels into a file, or as text."""
    from backsolve.figures.picture import picture
    from derive.files import write
    from derive.show.plot import caption, charts, draw_in_terminal
    from derive.units import signed

    if place == "-":
        click.echo("\n".join(draw_in_terminal(found)) + "\n")
        return
    undisturbed()
    limits = {name: signed(text) for name, text in texts.items()}
    said = caption([one for one in columns if one[1]], limits)
    write(place, picture(charts(found, said), place.lower()[-3:]))


def undisturbed() -> None:
    """Reset matplotlib to its defaults and silence its log, so that settings of the user do not change the pictures."""
    import logging

    for name in ("MPLBACKEND", "SOURCE_DATE_EPOCH"):
        os.environ.pop(name, None)
    # It logs a folder that cannot store its list of fonts, and a file of settings that it cannot read.
    logging.getLogger("matplotlib").setLevel(logging.CRITICAL)
    with suppress(ImportError):
        try:
            import matplotlib as mpl
        except UnicodeDecodeError as error:
            raise WrongData(f"matplotlibrc of this folder or of yours cannot be read: {error}") from None
        mpl.rcdefaults()


def named_apart(columns: "list[Column]") -> "list[Column]":
    """Return the deployments, each named by its differences from the others."""
    shared = {*columns[0].hardware, *columns[0].model}.intersection(*({*one.hardware, *one.model} for one in columns))
    return [replace(one, name=" ".join(name for name in (*one.hardware, *one.model) if name not in shared) or one.name) for one in columns]


def _side_by_side(columns: "list[Column]", style: str, full: bool) -> None:
    """Print deployments side by side. If none has an answer, end with status 3."""
    from derive.show.parts import all_warnings
    from derive.show.side_by_side import side_lines

    _print(side_lines(columns, style, full), style)
    for one in columns if style != "table" else ():
        for text in all_warnings(*one.solutions):
            say(f"{one.name}: {text}")
    if not any(solution.answers for one in columns for solution in one.solutions):
        leave(NO_ANSWER)


def refuse_long(texts: "Mapping[str, str]") -> None:
    """Raise WrongValue for an input with a piece longer than any value, before it is searched for a range."""
    from derive.units import LONGEST

    for name, text in texts.items():
        longest = max(map(len, re.split("[,;]", text)))
        # A range of two, with its signs and its number of points.
        if longest > 3 * LONGEST:
            raise WrongValue(f"{name}={shorten(text)[1:-1]}: a piece of it has {longest:,} characters, and a value has at most {LONGEST}")


def _refuse_options(given: tuple[str, ...]) -> None:
    """Raise WrongValue for an option that is written as an input."""
    options = {name for one in solve_command.params if isinstance(one, click.Option) for name in one.opts}
    for item in given:
        name, equals, value = item.partition("=")
        # A price other than the words of the option is a quantity.
        if equals and f"--{name}" in options and (name != "price" or value.strip() in _PRICES):
            raise WrongValue(f"{name} is an option: write --{name} {shorten(value)[1:-1]}")
