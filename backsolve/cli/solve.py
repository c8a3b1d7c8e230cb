"""The command `solve`: any quantity from the given ones."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from shlex import join
from typing import TYPE_CHECKING, Any

import click

from backsolve.cli import options
from backsolve.cli.options import completes
from backsolve.streams import escape_line, in_terminal, leave, say, tell, width
from derive.answers import NO_WHOLE_ONE, Column, Result
from derive.errors import NO_ANSWER, UnknownName, WrongValue, shorten
from derive.quantities import QUANTITIES, quantity
from derive.show.parts import all_warnings
from derive.show.text import lines
from derive.units import is_of_one_element, shown_as_typed

if TYPE_CHECKING:
    from backsolve.cli.question import Asked
    from derive.solving.explain.sufficient_givens import Enough
    from derive.solving.question.conventions import Switches

_PRICES = ("given", "rent")
_TIER_WORDS = ("storage_tier", "cache_tier")
_LINES_AT_ONCE = 1000
"""The number of lines of an answer that are formatted and written together."""
_MOST_LISTED = 1000
"""The most points of a sweep that are listed beside a picture."""
_LONG = 100_000
"""The most points of a table that is printed without a notice to wait."""


@click.command("solve", cls=options.Command, no_args_is_help=True)
@click.argument("unknown", metavar="UNKNOWN[,UNKNOWN]...", shell_complete=completes("quantities"))
@click.argument("given", nargs=-1, metavar="[NAME=VALUE]...", shell_complete=completes("quantities"))
@click.option("--using", multiple=True, metavar="ID", help="Join a condition, heuristic or variant by its id. May be repeated.")
@options.hardware
@options.model
@click.option("--zip", "zipped", is_flag=True, help="Combine the first items of all lists, the second items, and so on.")
@click.option("--overlap", metavar="NAME", help="How compute and memory time combine: max (default), sum, kv_plus_max, network, exposed.")
@click.option("--count", default="flop", metavar="flop|mac", help="Meaning of typed FLOP values: flop (default), or mac, which is 2 FLOP.")
@click.option("--bytes", default="decimal", metavar="decimal|binary", help="1 GB of memory: 10^9 (default) or 2^30 bytes.")
@click.option(
    "--efficiency", default="ideal", metavar="ideal|calibrated", help="mfu, mbu and layer_time: ideal (default), or as measured in runs."
)
@click.option("--price", default="given", metavar="given|rent", help="Price of a chip: given (default), or the median rent of the table.")
@click.option("--tier", default="", metavar="NAME", help="Use capacity, bandwidth and price of a storage tier or device, e.g. nvme.")
@click.option("--symbolic", is_flag=True, help="Answer with a formula: inputs without a value are symbols, or all if each has one.")
@click.option("--strict", is_flag=True, help="Use definitions and bounds alone: no reading, condition or rule of thumb.")
@click.option("--anyway", is_flag=True, help="Answer even if weights and KV cache do not fit in memory.")
@click.option("--full", is_flag=True, help="Print the whole answer: all formulas, inputs with sources, and assumptions.")
@options.file("--plot", "Draw a sweep, or the roofline of a chip: .svg, .png (needs the extra plot), or -.", stream=True)
@options.form("table", "json", "csv", "latex", "markdown")
def solve_command(
    unknown: str, given: tuple[str, ...], using: tuple[str, ...], hardware: tuple[str, ...], model: tuple[str, ...], zipped: bool,
    overlap: str | None, symbolic: bool, strict: bool, anyway: bool, plot: str | None, full: bool, style: str, **conventions: Any,
) -> None:  # fmt: skip
    """Solve for UNKNOWN, one quantity or several, from the given values, through any number of equations.

    Values have units: active_params=37B context_length=200k hbm_bandwidth=3.35TB/s chip_price='2 USD/h' ttl=5min.
    A value may be a range (active_params=80B..120B mfu=0.4±0.1), a list (batch=1,8,64 or batch='128;256'),
    a sweep (batch=1..4096:log:13) or a limit of a result ('step_time<=30ms' 'throughput>=2000').

    Short names: ttft, tpot, isl, osl, qps, gpus, tp, ctx, kv, max_batch, rent, margin.
    Also dtype (of weights and arithmetic), kv_dtype (of the cache), attention=tp|dp and experts=tp|ep (how chips share a model),
    zero=1|2|3 (what copies share in training).

    Example:

    \b
    backsolve solve balance_batch machine_balance_ratio=300 sparsity=8
    backsolve solve sweep_time --hardware H100-SXM:fp8
    backsolve solve sweep_time,ridge_point --hardware H100,B200:fp8
    backsolve solve step_time compute_time=8ms memory_time=1ms..16ms:log:5
    backsolve solve storage_tier ttl=1h
    backsolve solve balance_batch machine_balance_ratio sparsity=8 --symbolic

    If definitions and bounds lead to no answer, a reading of prices, a condition or a rule of thumb gives it. The first line names it.
    --using selects one, --strict leaves all of them out.
    """
    words = [*dict.fromkeys(name.strip() for name in unknown.split(",") if name.strip())] or [unknown]
    if any(word.lower() in _TIER_WORDS for word in words):
        from backsolve.cli.tiers import print_tiers

        others = (*words[1:], *using, *hardware, *model, strict, conventions["tier"], plot is not None)
        print_tiers(() if any(others) else given, style, full)
        return
    from backsolve.cli.question import put_symbols, read_as_meant
    from derive.solving.question.conventions import Conventions, Switches

    if "=" in unknown:
        raise WrongValue(f"{shorten(unknown)} is an input. The unknown comes first: backsolve solve UNKNOWN name=value ...")
    bare = [item for item in given if symbolic and not re.search("[<>=≤≥]", item)]
    given = tuple(f"{item}=1" if item in bare else item for item in given)
    _refuse_misplaced(unknown, given)
    if plot == "-" and style != "table":
        raise WrongValue(f"--plot - draws below the table, so it would be inside the {style}: write to a file that ends in .svg or .png")
    if plot is not None and plot != "-":
        from backsolve.figures.picture import refuse_picture

        refuse_picture("--plot", plot)
    if (price := conventions["price"]) not in _PRICES:
        raise WrongValue(f"--price must be given or rent, not {shorten(price)}. Your own price is an input: chip_price={shorten(price)}")
    switches = Switches(hardware, model, using, {} if overlap is None else {"overlap": overlap}, Conventions(**conventions), anyway, zipped)
    asked = read_as_meant(words, given, switches, strict, drawn=plot is not None)
    for told in asked.read:
        say(told)
    asked = put_symbols(asked, bare) if symbolic else asked
    # An input of a data type is in bytes, although its word means bits.
    stated = {name: word for name, word in asked.words.items() if name in asked.unknowns or not is_of_one_element(name)}
    with shown_as_typed({} if style in ("json", "csv") else stated):
        _answer(asked, style, full, plot)


def _answer(asked: "Asked", style: str, full: bool, plot: str | None) -> None:
    """Print the answers, draw them, and exit with the status of the question."""
    from backsolve.cli.question import answer_charts, answer_columns, draw_into

    columns = answer_columns(asked)
    alone, solutions = len(columns) == 1, [solution for one in columns for solution in one.solutions]
    refused = [one for one in solutions if not one.answers]
    if asked.switches.zipped and alone and len(solutions[0].sweep.given if solutions[0].sweep else ()) < 2:
        raise WrongValue("--zip needs two lists: of --hardware and --model, or of inputs")
    answered = not refused if alone else len(refused) < len(solutions)
    charts = answer_charts(asked, columns) if plot is not None and answered else []
    _print_answers(columns, asked.words, style, full, plot is not None)
    for one in columns if style != "table" else ():
        for warning in all_warnings(*one.solutions):
            say(f"{one.name}: {warning}" if one.name else warning)
    for why in dict.fromkeys(_refusal_lines(asked, refused)) if alone else ():
        say(why)
    if plot is not None and answered:
        draw_into(plot, charts, columns, asked.texts)
    if not answered or (alone and any(NO_WHOLE_ONE in one.kinds for one in solutions)):
        leave(NO_ANSWER)


def _print_answers(columns: list[Column], words: Mapping[str, str], style: str, full: bool, drawn: bool) -> None:
    """Print the answers of one deployment, or of several side by side. A long sweep that is drawn is not listed."""
    solutions = columns[0].solutions
    if len(columns) > 1:
        from derive.show.side_by_side import side_lines

        _print(side_lines(columns, style, full), style)
        return
    points = max(len(one.sweep) if one.sweep else 0 for one in solutions)
    if style == "table" and drawn and points > _MOST_LISTED:
        tell(f"{points:,} points, drawn and not listed: --as csv lists them", style)
        return
    if style == "table" and points > _LONG and in_terminal(sys.stderr):
        say(f"{points:,} points are formatted in columns (--as csv is faster) ...")
    shown = lines(solutions, style, full, width())
    if style == "table":
        shown = chain(_add_typed_words(shown, words), ["Words        backsolve explain WORD"] if full else [])
    if style != "table" or any(one.answers for one in solutions):
        _print(shown, style)


def _refusal_lines(asked: "Asked", refused: list[Result]) -> list[str]:
    """Return the reasons why questions have no answer. If usual values would answer all of them, add a command with these values.

    Add the command only if every reason has one line, because messages are short.
    """
    if not refused:
        return []
    from derive.solving.explain.sufficient_givens import Enough, find_answered_beside, sufficient_givens

    switches = asked.switches_of(*asked.deployments[0][:2])
    lines, found, covered = [], Enough({}, switches), True
    for one in refused:
        near = further = None
        if one.refusal.missing:
            near = find_answered_beside(one.unknown, asked.given, switches)
            further = None if near else sufficient_givens(one.unknown, asked.given, found, asked.strict)
        # A quantity that is asked for beside it cannot be given.
        covered = covered and further is not None and further.given.keys().isdisjoint(asked.unknowns)
        found = further or found
        instead = f"with these inputs you can ask for {near}: {QUANTITIES[near].meaning}" if near else ""
        lines.append(f"{one.refusal.message}\n{instead}".rstrip())
    return [*lines, _example_line(found, switches)] if covered and not any("\n" in why for why in lines) else lines


def _example_line(found: "Enough", switches: "Switches") -> str:
    """Return the command that answers the question, or only the words to add if the whole command would be cut."""
    own = f", with your own values for {', '.join(found.given)}" if found.given else ""
    named = (("--hardware", switches.hardware, found.switches.hardware), ("--model", switches.model, found.switches.model))
    options = [word for option, before, after in named if after != before for word in (option, *(after or ()))]
    values = [f"{name}={text}" for name, text in found.given.items()]
    typed: list[str] = click.get_current_context().obj
    # Options go behind the unknown, or first if options were typed before it.
    place = 1 if typed[1].startswith("-") else 2
    line = f"for example{own}: {join(['backsolve', *typed[:place], *options, *typed[place:], *values])}"
    return line if escape_line(line) == line else f"for example{own}, add: {join([*options, *values])}"


def _print(shown: Iterator[str], style: str) -> None:
    while part := list(islice(shown, _LINES_AT_ONCE)):
        tell("\n".join(part), style)


def _add_typed_words(shown: Iterable[str], words: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of answers. Before the steps, the typed word is printed with the name of the unknown. Targets, sensitivities and
    what is not used have only the typed word.

    >>> lines = ["step_time = 2.8 ms", "Targets      requests_per_second >= 20 is met", "", "step_time = memory_time"]
    >>> [*_add_typed_words(lines, {"step_time": "tpot", "requests_per_second": "qps"})]
    ['tpot (step_time) = 2.8 ms', 'Targets      qps >= 20 is met', '', 'step_time = memory_time']
    """
    above_steps, labelled = True, False
    for line in shown:
        above_steps = above_steps and line != ""
        name = re.split(r" \[| >?=|:", line, maxsplit=1)[0]
        # A long line goes on in the next one.
        labelled = line.startswith(("Targets ", "Limited by ", "Not used ", "+1 % ")) or (labelled and line.startswith(" "))
        if above_steps and labelled:
            yield re.sub(r"[a-z_]+", lambda found: words.get(found[0], found[0]), line)
        else:
            yield f"{words[name]} ({name}){line.removeprefix(name)}" if above_steps and name in words else line


def _refuse_misplaced(unknown: str, given: tuple[str, ...]) -> None:
    """Raise WrongValue for an option, or a second unknown, that is written as an input."""
    options = {name for one in solve_command.params if isinstance(one, click.Option) for name in one.opts}
    for item in given:
        name, equals, value = item.partition("=")
        name = "tier" if name in _TIER_WORDS else name
        if not re.search("[<>=]", item):
            _refuse_preset(item)
        with suppress(UnknownName):
            if not equals and quantity(item):
                several = f"Several unknowns are one word: backsolve solve {unknown.strip(',')},{item} name=value ..."
                raise WrongValue(f"{item} has no value: write {item}=VALUE. {several}")
        # A price other than the words of the option is a quantity.
        if equals and f"--{name}" in options and (name != "price" or value.strip() in _PRICES):
            raise WrongValue(f"{item.partition('=')[0]} is an option: write --{name} {shorten(value)[1:-1]}")


def _refuse_preset(item: str) -> None:
    """Raise WrongValue for a chip or a model that is written as an input."""
    from derive.presets import chip_name, model_name

    for option, name_of in (("--hardware", chip_name), ("--model", model_name)):
        with suppress(UnknownName):
            name_of(item)
            raise WrongValue(f"{shorten(item)} is no input: write {option} {item}")
