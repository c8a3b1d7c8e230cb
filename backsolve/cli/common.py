"""Share code between commands: options, folded answers, and problems that are reported after the answer."""

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, NoReturn, TypeVar

import click

from backsolve.cli.completion import completes
from backsolve.streams import in_terminal, say, width
from derive.errors import INPUT_IS_WRONG, NO_ANSWER, WrongValue, shorten, suggest
from derive.files import called, label, standard_input
from derive.show.folding import fold

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from derive.tables.problems import Problem
    from invert.sheets.files import FileText

_Command = TypeVar("_Command", bound=Callable[..., object])


def day(text: str) -> date:
    """Return the day that an option names."""
    try:
        found = date.fromisoformat(text)
    except ValueError:
        found = None
    # `fromisoformat` alone also accepts 20261120 and 2026-W47-5, and `click.DateTime` accepts 2026-11-2.
    if found is None or found.isoformat() != text:
        raise click.BadParameter(f"{text!r} is not a date. Write it as 2026-11-20")
    return found


class OneOf(click.Choice):  # type: ignore[type-arg]  # click 8.1 has no type parameter
    """A choice between a few words. An error lists them and suggests the nearest one."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word."""
        if value in self.choices:
            return str(value)
        near = suggest(str(value), self.choices)
        allowed = ", ".join(map(repr, self.choices))
        raise click.BadParameter(f"{shorten(str(value))} is not one of {allowed}{'' if near.startswith('; allowed') else near}", ctx, param)


class FileName(click.ParamType):  # type: ignore[type-arg]  # as above
    """The name of a file to write: not empty, and not the dash of a stream, unless the option also reads one."""

    name = "file"

    def __init__(self, stream: bool = False):
        self.stream = stream

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name."""
        if value == "" or (value == "-" and not self.stream):
            option = param.opts[0] if param else self.name
            raise WrongValue(f"{option} needs the name of a file. Given {value!r}{' (./- for a file of that name)' if value else ''}")
        return str(value)


_RATES = "backsolve.rates"


def _read_rates(context: click.Context, _option: click.Parameter, items: tuple[str, ...]) -> None:
    """Read the exchange rates before the prices, which need them."""
    if items:
        from invert.sheets.rules import usd_rate

        context.meta[_RATES] = tuple((currency, usd_rate(currency, text)) for currency, text in pairs("--rate", items, "EUR=1.08").items())


def _read_prices(context: click.Context, option: click.Parameter, place: str | None) -> "FileText | None":
    """Return the prices of a user with their rates: the content of a file or of standard input, or one sheet that is typed as its name."""
    rates = context.meta.get(_RATES, ())
    if place is None:
        if rates and isinstance(option, click.Option) and not ({"file", "old"} & context.params.keys()):
            raise WrongValue("--rate is for prices of your own: name them with --prices")
        return None
    from invert.sheets.files import is_typed_sheet
    from invert.sheets.read import own_file
    from invert.sheets.typed import typed_sheet

    typed = is_typed_sheet(place) and not os.path.exists(place)
    found = typed_sheet(place) if typed else own_file(standard_input() if place == "-" else place)
    return replace(found, rates=rates)


def _read_state(context: click.Context, _option: click.Parameter, place: str) -> "str | FileText":
    """Return a day or `shipped` as it is, and a file or standard input with its content and the rates."""
    from invert.sheets.diff import SHIPPED, date_of, file_of
    from invert.sheets.read import own_file

    if place == SHIPPED or date_of(place):
        return place
    return replace(own_file(standard_input()) if place == "-" else file_of(place), rates=context.meta.get(_RATES, ()))


def is_stream(own: object) -> bool:
    """Return whether prices come from standard input."""
    return getattr(own, "place", "") == called("-")


def prices_option(command: _Command) -> _Command:
    """Add `--prices FILE`, and `--rate` for its currencies, to a command."""
    command = click.option(
        "--rate",
        multiple=True,
        metavar="EUR=1.08",
        is_eager=True,
        expose_value=False,
        callback=_read_rates,
        help="US dollars for one unit of a currency of --prices. A column usd_rate does the same. May be repeated.",
    )(command)
    return click.option(
        "--prices",
        "own",
        metavar="FILE",
        callback=_read_prices,
        help="A CSV of your own prices, used with the shipped ones, - for standard input, or one sheet: '2/12; >200k 4/18; cache .2'.",
    )(command)


prices_argument = click.argument("file", metavar="[FILE]", required=False, callback=_read_prices)
"""The file of `--prices` as an argument."""


def state_argument(name: str) -> Callable[[_Command], _Command]:
    """Return an argument for a state of the prices: a day, `shipped`, or a file. - reads a file from standard input."""
    return click.argument(name, metavar=name.upper(), callback=_read_state)


as_of_option = click.option("--as-of", type=day, metavar="DATE", help="The day whose prices hold. By default the newest in the data.")
tier_option = click.option("--tier", metavar="T", help="A service tier, or all. By default standard, else off_peak.")
hardware_option = click.option(
    "--hardware", multiple=True, metavar="NAME[:DTYPE]", shell_complete=completes("chips"), help="A chip, e.g. H100-SXM:fp8, or several."
)
model_option = click.option(
    "--model", multiple=True, metavar="NAME", shell_complete=completes("models"), help="An open model, e.g. DeepSeek-V3, or a config.json."
)
html_base_option = click.option(
    "--html-base",
    envvar="BACKSOLVE_HTML_BASE",
    default="",
    metavar="URL",
    help="Address of the site in citations, or $BACKSOLVE_HTML_BASE.",
)
all_option = click.option("--all", "everything", is_flag=True, help="Include every service tier and batch sheet.")
providers_option = click.option(
    "--provider", "providers", multiple=True, metavar="P", help="Only one provider, e.g. google or 'open*'. May be repeated."
)


LONGEST_WORD = 200
"""Characters of the longest word to look for. A search for a longer text lasts minutes and finds no name."""


def _join_words(_context: click.Context, _argument: click.Parameter, words: tuple[str, ...]) -> str:
    """Return the words as one text."""
    text = " ".join(words)
    if len(text) > LONGEST_WORD:
        raise WrongValue(f"{shorten(text)} has {len(text):,} characters, and at most {LONGEST_WORD} are looked for")
    return text


def words_argument(metavar: str, *kinds: str, required: bool = False) -> Callable[[_Command], _Command]:
    """Return the argument for words to look for, which is one text. A shell completes names of these kinds."""
    return click.argument("words", nargs=-1, required=required, metavar=metavar, callback=_join_words, shell_complete=completes(*kinds))


def form_option(*forms: str, help: str = "Form of the answer.") -> Callable[[_Command], _Command]:
    """Return the option `--as FORM`. The first form is the default."""
    return click.option("--as", "style", type=OneOf(forms), default=forms[0], help=help)


def workers_option(help: str) -> Callable[[_Command], _Command]:
    """Return the option `--workers N`: the number of processes of `processes`."""
    return click.option("--workers", type=click.IntRange(1, 256), metavar="N", help=help)


@contextmanager
def processes(workers: int | None, what: str) -> "Iterator[Executor]":
    """Yield a pool of processes. Without a number the pool starts only for many parts. The line of progress begins with `what`."""
    from backsolve.cli.sharing import SharedWork, end_with_parent

    def start(number: int) -> "Executor":
        from concurrent.futures import ProcessPoolExecutor

        return stack.enter_context(ProcessPoolExecutor(number, initializer=end_with_parent))

    with ExitStack() as stack:
        yield SharedWork(start, workers, what)


def pairs(option: str, items: tuple[str, ...], example: str = "output=20") -> dict[str, str]:
    """Return the values of `name=value` items by name.

    >>> pairs("--set", ("output=20", "input@200k=5"))
    {'output': '20', 'input@200k': '5'}
    """
    split = [item.partition("=") for item in items]
    for name, equals, value in split:
        if not (name and equals and value):
            raise WrongValue(f"{option} needs name=value, e.g. {example}. Given {shorten(name + equals + value)}")
        if sum(other == name for other, _, _ in split) > 1:
            raise WrongValue(f"{option} {shorten(name)} is given more than once")
    return {name: value for name, _, value in split}


def refuse_one_file(option: str, place: str | None, others: Mapping[str, object]) -> None:
    """Raise WrongValue if an option would overwrite the file of another option."""
    for other, at in others.items():
        file = getattr(at, "place", at)
        if place is not None and isinstance(file, str) and os.path.realpath(place) == os.path.realpath(file):
            raise WrongValue(f"{option} would write over {label(place)}, which is the file of {other}. Name another file")


def tell(text: str, style: str = "text") -> None:
    """Print an answer. Only text is folded to the width of the terminal."""
    click.echo(fold(text, width(sys.stdout)) if style in ("text", "table") else text)


def tell_rows(form: str, rows: Iterable[Sequence[str]]) -> None:
    """Print rows in a form of `str.format` whose first column is as wide as its widest cell (`{:<{first}}`).

    A row is folded to the width of a terminal, and is one line for other programs.
    """
    found = [*rows]
    first = max((len(row[0]) for row in found), default=0)
    for row in found:
        line = form.format(*row, first=first)
        click.echo(fold(line, width(sys.stdout)) if in_terminal(sys.stdout) else line)


TYPED_WORDS = "backsolve.words"
"""The key of the words of the command line in `meta` of the context."""


def leave(status: int) -> NoReturn:
    """End the command with an exit status."""
    click.get_current_context().exit(status)


def leave_without_sheets() -> NoReturn:
    """End a command that found no price sheet."""
    say("no sheet holds on that day")
    leave(NO_ANSWER)


class Commands(click.Group):
    """A group that prints its help if it is called without a command. The exit status is 2 (with click before 8.2 it would be 0)."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments as click does. Without any, print the help and exit with the status of wrong input."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit(INPUT_IS_WRONG)
        return super().parse_args(ctx, args)


def tell_doubts(doubts: "Iterable[Problem]", own: object) -> None:
    """Print on stderr the number of doubtful prices in use, the first one, and the command that lists all."""
    if found := list(doubts):
        place = "" if own is None else " -" if is_stream(own) else f" {shlex.quote(getattr(own, 'place', str(own)))}"
        counted = "1 doubtful price" if len(found) == 1 else f"{len(found)} doubtful prices, the first"
        end = "" if found[0].message.endswith("?") else "."
        say(f"{counted}: {found[0]}{end} All: backsolve prices check{place}")


def report_problems(problems: "Iterable[Problem]") -> bool:
    """Print every problem on stderr. Return whether there is one."""
    found = list(problems)
    for problem in found:
        say(str(problem))
    return bool(found)


def fail_on(problems: "Iterable[Problem]") -> None:
    """Print every problem and end with the status of wrong input. Call it after the answer is printed."""
    if report_problems(problems):
        leave(INPUT_IS_WRONG)
