"""The commands that need no price sheet: solve, list, show, cite. Heavy imports happen inside them."""

import json
import sys
from contextlib import nullcontext
from itertools import islice
from typing import Any

import click

from backsolve.streams import close, in_terminal, say, width
from derive.errors import INPUT_IS_WRONG, NO_ANSWER, BacksolveError, UnknownName, WrongData, WrongValue, shorten
from derive.files import label, opened, size, standard_input
from derive.show.folding import folded

SOLVE_FORMATS = ("table", "json", "csv", "latex", "markdown")
LARGEST_RESULT = 64 * 1024**2
"""Bytes of a saved result that is cited from; a whole `infer --all` has under one million."""
LINES_AT_ONCE = 1000
"""Lines of an answer that are laid out and written together."""
CITE_STYLES = ("bibtex", "csl-json", "latex", "myst", "markdown", "plain")


@click.command()
@click.argument("unknown")
@click.argument("given", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--using", multiple=True, metavar="ID", help="Join a condition, heuristic or variant by its id; may be repeated.")
@click.option("--hardware", multiple=True, metavar="NAME[:DTYPE]", help="Take a chip's figures, e.g. H100-SXM:fp8.")
@click.option("--model", multiple=True, metavar="NAME", help="Take an open model's parameters and KV formula, e.g. DeepSeek-V3.")
@click.option("--overlap", metavar="NAME", help="How compute and memory time combine: max (default), sum, kv_plus_max, network, exposed.")
@click.option("--count", default="flop", metavar="flop|mac", help="What figures in FLOP count: flop (default), or multiply-adds of 2 FLOP.")
@click.option("--bytes", "sizes", default="decimal", metavar="decimal|binary", help="What 1 GB of memory is: 10^9 (default) or 2^30 bytes.")
@click.option(
    "--efficiency",
    default="ideal",
    metavar="ideal|calibrated",
    help="What is sustained of the peaks: all (default), or mfu, mbu and communication as measured (efficiencies.csv).",
)
@click.option("--anyway", is_flag=True, help="Answer although weights and KV cache do not fit in memory.")
@click.option("--as", "style", type=click.Choice(SOLVE_FORMATS), default="table", help="Form of the answer.")
def solve(unknown: str, given: tuple[str, ...], using: tuple[str, ...], overlap: str | None, style: str, **options: Any) -> None:
    """Solve for UNKNOWN from what is given: any quantity, through as many equations as it takes.

    Values take units: active_params=37B context_length=200k hbm_bandwidth=3.35TB/s chip_price='2 USD/h' ttl=5min.
    They may be ranges (active_params=80B..120B mfu=0.4±0.1), lists (batch=1,8,64 or batch='128;256')
    or sweeps (batch=1..4096:log:13).
    """
    from derive.show.text import beside, lines
    from derive.solving.api import respond
    from derive.solving.conventions import Conventions
    from derive.units import named_texts

    if "=" in unknown:
        raise WrongValue(f"{shorten(unknown)} is a given; the unknown comes first: backsolve solve UNKNOWN name=value ...")
    variants = {} if overlap is None else {"overlap": overlap}
    conventions = Conventions(options["count"], options["sizes"], options["efficiency"])
    presets = (options["hardware"], options["model"])
    solution = respond(unknown, named_texts(given), *presets, using, variants, conventions, options["anyway"])
    if solution.answers or style != "table":
        shown = lines(solution, style)
        while part := list(islice(shown, LINES_AT_ONCE)):
            _tell("\n".join(part), style)
    for warning in beside(solution) if style != "table" else ():
        say(warning)
    taken = {"hardware": options["hardware"], "architectures": options["model"], "efficiencies": conventions.efficiency == "calibrated"}
    bad = _bad_rows(*(name for name, used in taken.items() if used))
    if not solution.answers:
        say(solution.reason.message)
        raise SystemExit(NO_ANSWER)
    _fail_on(bad)


def _bad_rows(*tables: str) -> bool:
    """Whether a row of these tables cannot be used; each is named on stderr."""
    from derive.shipped import problems

    found = problems(*tables)
    for problem in found:
        say(str(problem))
    return bool(found)


def _fail_on(bad: bool) -> None:
    """Leave with the status of wrong input after the rest was printed."""
    if bad:
        raise SystemExit(INPUT_IS_WRONG)


@click.command("list")
@click.option("--chapter", metavar="C", help="Only the equations of a chapter.")
@click.option("--symbol", metavar="X", help="Only the equations that speak of a quantity.")
@click.option("--without", type=click.Choice(["derivation", "source"]), help="Only the equations that lack one.")
@click.option("--quantities", is_flag=True, help="The quantities, their symbols and units.")
@click.option("--hardware", is_flag=True, help="The accelerators that --hardware knows.")
@click.option("--models", is_flag=True, help="The models that --model knows.")
def list_equations(chapter: str | None, symbol: str | None, without: str | None, quantities: bool, hardware: bool, models: bool) -> None:
    """List the equations of the catalogue, the quantities, or the presets."""
    from derive.catalogue import equations
    from derive.derivations import why_not_derived
    from derive.presets import hardware_names, model_names
    from derive.quantities import QUANTITIES

    if quantities:
        longest = max(map(len, QUANTITIES))
        for row in QUANTITIES.values():
            _list(f"{row.name:<{longest}}  {row.symbol:<10} {'[' + row.unit + ']':<14} {row.meaning}")
        return
    if hardware or models:
        click.echo("\n".join((*(hardware_names() if hardware else ()), *(model_names() if models else ()))))
        _fail_on(_bad_rows(*(["hardware"] if hardware else []), *(["architectures"] if models else [])))
        return
    rows = [
        row
        for row in equations(chapter, symbol)
        if not (without == "derivation" and row.steps) and not (without == "source" and row.sources)
    ]
    if not rows:
        say("no equation of the catalogue is all that you ask for")
    longest = max((len(row.id) for row in rows), default=0)
    for row in rows:
        why = f"   ({why_not_derived(row)})" if without == "derivation" else ""
        _list(f"{row.id:<{longest}}  {row.described:<11}  {row.title}{why}")


@click.command()
@click.argument("id")
@click.option("--as", "style", type=click.Choice(["text", "latex"]), default="text", help="Form of an equation and its derivation.")
def show(id: str, style: str) -> None:
    """Show an equation with its derivation, a quantity, an open model or a chip (NAME:DTYPE)."""
    from derive import presets
    from derive.catalogue import by_id, equation, equations
    from derive.quantities import QUANTITIES, quantity

    if id.partition("@")[0] in by_id():
        _tell(_equation_shown(id, style), style)
        return
    if style == "latex":
        if "." in id:
            equation(id)
        raise WrongValue(f"{shorten(id)} is no equation's id, and only equations have a form in LaTeX: backsolve list names them")
    unusable: WrongData | None = None
    for lookup, table in ((presets.model, presets.ARCHITECTURES), (presets.hardware, presets.HARDWARE)):
        try:
            found = lookup(id)
        except UnknownName:
            continue
        except WrongData as error:
            # It may be a name of the other table.
            unusable = unusable or error
            continue
        _show_preset(found)
        _fail_on(_bad_rows(table))
        return
    try:
        row = quantity(id)
    except UnknownName as error:
        if unusable:
            raise unusable from None
        if "." in id:
            equation(id)
        names = [*by_id(), *QUANTITIES, *presets.model_names(), *presets.hardware_names()]
        # A row that cannot be read may be why.
        _bad_rows(presets.ARCHITECTURES, presets.HARDWARE)
        raise UnknownName("equation, quantity, model or chip", id, names, "backsolve list names them") from error
    _tell(f"{row.name}   {row.symbol}   [{row.unit}]   {row.meaning}")
    _tell(f"allowed     {row.domain}; {row.low:g} to {row.high:g} in practice")
    for place, found in enumerate(equations(symbol=row.name)):
        _tell(f"{'' if place else 'in':<12}{found.id}   {found.title}")


def _tell(text: str, style: str = "text") -> None:
    """Print an answer: text in lines that fit, every other form as it is."""
    click.echo(folded(text, width(sys.stdout)) if style in ("text", "table") else text)


def _list(line: str) -> None:
    """Print a row of a list: a line for other programs, lines that fit for a person."""
    click.echo(folded(line, width(sys.stdout)) if in_terminal(sys.stdout) else line)


def _equation_shown(id: str, style: str) -> str:
    from derive.catalogue import equation
    from derive.show.narration import as_latex
    from derive.show.text import card

    return as_latex(equation(id)) if style == "latex" else card(equation(id))


def _show_preset(preset: Any) -> None:
    from math import inf

    from derive import presets
    from derive.units import show as shown

    longest = max(map(len, preset.givens))
    for name, value in preset.givens.items():
        _tell(f"{name:<{longest}}  {shown(name, value):<16}  {preset.provenance[name]}")
    for group, variant in preset.variants.items():
        _tell(f"{group:<{longest}}  by the variant {variant}")
    for one in preset.published:
        row = f"{presets.ARCHITECTURES}.csv {one.model}"
        if one.dtype:
            stored = f"{shown('bytes_per_weight', one.bytes_per_weight)} a weight, unless a chip's data type is narrower"
            _tell(f"{'native_dtype':<{longest}}  {one.dtype:<16}  {row} native_dtype: {stored}")
        if one.max_context < inf:
            _tell(f"{'max_context':<{longest}}  {shown('max_context', one.max_context):<16}  {row} max_context")


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--as", "style", type=click.Choice(CITE_STYLES), default="plain", help="Form of the citation.")
@click.option("--used-by", metavar="RESULT.json", help="Cite every equation a saved result used; - reads standard input.")
def cite(ids: tuple[str, ...], style: str, used_by: str | None) -> None:
    """Cite one or more equations, or all that a saved result used."""
    from derive.show.citation import cite_all, ids_in

    wanted = [*ids, *(ids_in(_json(used_by)) if used_by is not None else ())]
    if not wanted:
        raise WrongValue("nothing to cite: name an equation's id (backsolve list) or a saved result with --used-by")
    click.echo(cite_all(wanted, style))


def _json(place: str) -> Any:
    name = "standard input" if place == "-" else label(place)
    with nullcontext(standard_input()) if place == "-" else opened(place, LARGEST_RESULT) as stream:
        try:
            text = stream.read(LARGEST_RESULT + 1)
        except OSError as error:
            raise WrongData(f"{name} cannot be read: {error.strerror or error}") from error
    if len(text) > LARGEST_RESULT:
        raise WrongData(f"{name} cannot be read: it is larger than {size(LARGEST_RESULT)}")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WrongData(f"{name} is not JSON ({str(error).splitlines()[0]}); save one with --as json") from error


COMMANDS = (solve, list_equations, show, cite)


def run(group: click.Group, arguments: list[str] | None = None) -> None:
    """Run the command line: every mistake in a line or two on stderr, never a traceback.

    Exit status 0 answered, 2 wrong input, 3 no answer, 1 when the answer could not be written out.
    """
    sys.exit(_status(group, sys.argv[1:] if arguments is None else arguments))


def _status(group: click.Group, arguments: list[str]) -> int:
    if sys.stdout is None:
        say("the output cannot be written (standard output is closed)")
        return 1
    try:
        with group.make_context("backsolve", arguments) as context:
            group.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.exceptions.NoArgsIsHelpError as shown:
        click.echo(shown.format_message())
        return INPUT_IS_WRONG
    except BacksolveError as error:
        say(str(error))
        return error.exit_status
    except click.ClickException as error:
        say(error.format_message().replace("\n", "\\n"))
        return INPUT_IS_WRONG
    except (click.Abort, KeyboardInterrupt):
        return 130
    except OSError as error:
        close(sys.stdout)
        if isinstance(error, BrokenPipeError):
            return 0
        say(f"the output cannot be written ({error.strerror})")
        return 1
    return 0
