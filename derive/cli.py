"""The commands that need no price sheet: solve, list, show, cite. Heavy imports happen inside them."""

import json
import sys
from typing import Any

import click

from derive.errors import UnknownName, WrongData, WrongValue, shorten

SOLVE_FORMATS = ("table", "json", "csv", "latex", "markdown")
CITE_STYLES = ("bibtex", "csl-json", "latex", "myst", "markdown", "plain")


@click.command()
@click.argument("unknown")
@click.argument("given", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--using", multiple=True, metavar="ID", help="Join a condition, heuristic or variant by its id; may be repeated.")
@click.option("--hardware", metavar="NAME[:DTYPE]", help="Take a chip's figures, e.g. H100-SXM:fp8.")
@click.option("--model", metavar="NAME", help="Take an open model's parameters and KV formula, e.g. DeepSeek-V3.")
@click.option("--overlap", metavar="NAME", help="How compute and memory time combine: max (default), sum, kv_plus_max.")
@click.option("--as", "style", type=click.Choice(SOLVE_FORMATS), default="table", help="Form of the answer.")
def solve(
    unknown: str, given: tuple[str, ...], using: tuple[str, ...], hardware: str | None, model: str | None, overlap: str | None, style: str
) -> None:
    """Solve for UNKNOWN from what is given: any quantity, through as many equations as it takes.

    Values take units: active_params=37B context_length=200k hbm_bandwidth=3.35TB/s chip_price='2 USD/h' ttl=5min.
    """
    from derive.chain import answer
    from derive.display import rendered
    from derive.errors import NO_ANSWER
    from derive.questions import question
    from derive.units import assignments

    if "=" in unknown:
        raise WrongValue(f"{shorten(unknown)} is a given; the unknown comes first: backsolve solve UNKNOWN name=value ...")
    variants = {"overlap": overlap} if overlap else {}
    solution = answer(question(unknown, assignments(given), hardware, model, using, variants))
    if solution.answers or style != "table":
        click.echo(rendered(solution, style))
    if not solution.answers:
        click.echo(f"backsolve: {solution.reason.message}", err=True)
        raise SystemExit(NO_ANSWER)


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
    from derive.presets import hardware_names, model_names
    from derive.quantities import QUANTITIES

    if quantities:
        width = max(map(len, QUANTITIES))
        for row in QUANTITIES.values():
            click.echo(f"{row.name:<{width}}  {row.symbol:<10} {'[' + row.unit + ']':<14} {row.meaning}")
        return
    if hardware or models:
        click.echo("\n".join((*(hardware_names() if hardware else ()), *(model_names() if models else ()))))
        return
    rows = [
        row
        for row in equations(chapter, symbol)
        if not (without == "derivation" and row.steps) and not (without == "source" and row.sources)
    ]
    width = max((len(row.id) for row in rows), default=0)
    for row in rows:
        click.echo(f"{row.id:<{width}}  {row.kind:<10}  {row.title}")


@click.command()
@click.argument("id")
def show(id: str) -> None:
    """Show an equation, or a quantity of the registry: formula, units, what it assumes, who said it."""
    from derive.catalogue import by_id, equation, equations
    from derive.quantities import QUANTITIES, quantity

    if "." in id:
        from derive.display import card

        click.echo(card(equation(id)))
        return
    try:
        row = quantity(id)
    except UnknownName as error:
        raise UnknownName("equation or quantity", id, [*by_id(), *QUANTITIES], "backsolve list names them") from error
    click.echo(f"{row.name}   {row.symbol}   [{row.unit}]   {row.meaning}")
    click.echo(f"allowed     {row.domain}; {row.low:g} to {row.high:g} in practice")
    for place, found in enumerate(equations(symbol=row.name)):
        click.echo(f"{'' if place else 'in':<12}{found.id}   {found.title}")


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--as", "style", type=click.Choice(CITE_STYLES), default="plain", help="Form of the citation.")
@click.option("--used-by", type=click.File("rb"), metavar="RESULT.json", help="Cite every equation a saved result used.")
def cite(ids: tuple[str, ...], style: str, used_by: Any) -> None:
    """Cite one or more equations, or all that a saved result used."""
    from derive.citing import cite_all, ids_in

    wanted = [*ids, *(ids_in(_json(used_by)) if used_by else ())]
    if not wanted:
        raise WrongValue("nothing to cite: name an equation's id (backsolve list) or a saved result with --used-by")
    click.echo(cite_all(wanted, style))


def _json(stream: Any) -> Any:
    try:
        return json.load(stream)
    except (ValueError, RecursionError) as error:
        raise WrongData(f"{stream.name}: not JSON ({str(error).splitlines()[0]}); save one with --as json") from error


COMMANDS = (solve, list_equations, show, cite)


def run(group: click.Group, arguments: list[str] | None = None) -> None:
    """Run the command line: every mistake in a line or two on stderr, never a traceback; 2 wrong input, 3 no answer."""
    from derive.errors import BacksolveError

    try:
        status = group.main(arguments, prog_name="backsolve", standalone_mode=False)
    except BacksolveError as error:
        click.echo(f"backsolve: {error}", err=True)
        status = error.exit_status
    except click.ClickException as error:
        click.echo(f"backsolve: {error.format_message()}", err=True)
        status = 2
    except click.Abort:
        status = 130
    except BrokenPipeError:
        sys.stderr.close()
        status = 0
    sys.exit(status if isinstance(status, int) else 0)
