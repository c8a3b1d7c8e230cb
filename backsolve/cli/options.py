"""The options of the commands. A shell completes chips, models, sheets, equations, quantities, claims, columns and words of the outputs."""

import os
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, TypeVar

import click

from backsolve.streams import UNREAD
from derive.errors import UnknownName, WrongData, WrongValue, shorten
from derive.files import STANDARD_INPUT, label, standard_input
from derive.quantities import quantity

if TYPE_CHECKING:
    from invert.sheets.rows import FileText

_Command = TypeVar("_Command", bound=Callable[..., object])


_NAMES = {
    **{"chips": "derive.presets:hardware_names", "models": "derive.presets:named_models", "equations": "derive.catalogue:by_id"},
    **{"quantities": "derive.quantities:QUANTITIES", "words": "derive.glossary:term_names"},
    **{"figures": "backsolve.figures.named:FIGURES", "columns": "invert.report.columns:REGISTRY"},
}
"""A function that returns the names of a kind, or a table with these names. Its module is imported when the names are needed."""


def names_of(kind: str) -> Iterable[str]:
    """Return the names of a kind."""
    if kind == "sheets":
        from invert.data import read_data
        from invert.sheets.assemble import models

        return sorted({row.model for row in models(read_data())})
    if kind == "claims":
        from derive.tables.shipped import rows_of
        from invert.validation.claim_rows import Claim

        return [row.id for row in rows_of(Claim)]
    found: Any = resolve_name(_NAMES[kind])
    names: Iterable[str] = found() if callable(found) else found
    return names


def completes(*kinds: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return the completion of a parameter whose values are names of these kinds, or lists of names.

    >>> completes("chips")(None, None, "h100-")
    ['H100-SXM', 'H100-PCIe', 'H100-NVL']
    """

    def complete(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
        before, comma, last = begun.rpartition(",")
        return [f"{before}{comma}{name}" for kind in kinds for name in names_of(kind) if name.lower().startswith(last.lower())]

    return complete


def day(text: str) -> date:
    """Return the day that an option names."""
    from derive.tables.cells import read_date

    try:
        return read_date(text)
    except WrongData as error:
        raise click.BadParameter(str(error)) from None


class Command(click.Command):
    """A command that refuses a second value for an option of one value, a second - for standard input, and a file to write that another
    option names.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words of the command line."""
        try:
            _, _, given = self.make_parser(ctx).parse_args(args=[*args])
        except click.NoSuchOption as error:
            with suppress(UnknownName):
                word = error.option_name.lstrip("-")
                if any("NAME=VALUE" in (one.metavar or "") for one in self.params if one.param_type_name == "argument") and quantity(word):
                    raise WrongValue(f"{error.option_name} is an input, not an option: write {word}=VALUE") from None
            raise
        for one, count in Counter(given).items():
            if count > 1 and isinstance(one, click.Option) and not (one.multiple or one.is_flag or ctx.resilient_parsing):
                raise WrongValue(f"{one.opts[-1]} is given more than once")
        rest = super().parse_args(ctx, args)
        values = [(one.opts[-1], ctx.params.get(one.name or "")) for one in self.params]
        named = [(option, one) for option, value in values for one in (value if isinstance(value, tuple) else (value,))]
        places = [(option, place) for option, one in named if isinstance(place := getattr(one, "place", one), str)]
        if sum(place in ("-", STANDARD_INPUT) for _, place in places) > 1:
            raise WrongValue("standard input can be read once, and - is given more than once")
        for option, place in ctx.meta.get(UNREAD, {}).items():
            refuse_one_file(option, place, places)
        return rest


def refuse_one_file(option: str, place: str, others: Iterable[tuple[str, str]]) -> None:
    """Raise WrongValue if an option would write over a file that another option or argument names."""
    for other, at in others:
        if other != option and at not in ("", "-") and os.path.realpath(at) == os.path.realpath(place):
            shown = other.upper() if other.isidentifier() else other
            raise WrongValue(f"{option} would write over {label(place)}, which is the file of {shown}. Name another file")


class Commands(click.Group):
    """A group of such commands."""

    command_class = Command


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
    from invert.sheets.add import typed_sheet
    from invert.sheets.read import own_file
    from invert.sheets.rows import is_typed_sheet

    typed = is_typed_sheet(place) and not os.path.exists(place)
    found = typed_sheet(place) if typed else own_file(standard_input() if place == "-" else place)
    return replace(found, rates=rates)


def _read_state(context: click.Context, _option: click.Parameter, place: str) -> "str | FileText":
    """Return a day or `shipped` unchanged, or the content of a file or of standard input with the rates."""
    from invert.sheets.diff import SHIPPED, date_of, file_of
    from invert.sheets.read import own_file

    if place == SHIPPED or date_of(place):
        return place
    return replace(own_file(standard_input()) if place == "-" else file_of(place), rates=context.meta.get(_RATES, ()))


def prices(command: _Command) -> _Command:
    """Add `--prices FILE`, and `--rate` for its currencies, to a command."""
    command = click.option(
        "--rate",
        multiple=True,
        metavar="EUR=1.08",
        is_eager=True,
        expose_value=False,
        callback=_read_rates,
        help="US dollars for one unit of a currency in --prices. The column usd_rate does the same. May be repeated.",
    )(command)
    return click.option(
        "--prices",
        metavar="FILE",
        callback=_read_prices,
        help="Your own prices, used with the shipped ones: a CSV, - for standard input, or one sheet: '2/12; >200k 4/18; cache .2'.",
    )(command)


prices_argument = click.argument("file", metavar="[FILE]", required=False, callback=_read_prices)
"""The file of `--prices` as an argument."""


def state_argument(name: str) -> Callable[[_Command], _Command]:
    """Return an argument for a state of the prices: a day, `shipped`, or a file. - reads a file from standard input."""
    return click.argument(name, metavar=name.upper(), callback=_read_state)


as_of = click.option("--as-of", type=day, metavar="DATE", help="Use the prices of this day. By default the newest day in the data.")
tier = click.option("--tier", metavar="T", help="A service tier, or all. By default standard, else off_peak.")
hardware = click.option(
    "--hardware", multiple=True, metavar="NAME[:DTYPE]", shell_complete=completes("chips"), help="A chip, e.g. H100-SXM:fp8, or several."
)
model = click.option(
    "--model", multiple=True, metavar="NAME", shell_complete=completes("models"), help="An open model, e.g. DeepSeek-V3, or a config.json."
)
html_base = click.option(
    "--html-base",
    envvar="BACKSOLVE_HTML_BASE",
    default="",
    metavar="URL",
    help="Address of the site in citations, or $BACKSOLVE_HTML_BASE.",
)
everything = click.option("--all", "everything", is_flag=True, help="Include every service tier and batch sheet.")
provider = click.option("--provider", multiple=True, metavar="P", help="Only one provider, e.g. google or 'open*'. May be repeated.")

LONGEST_WORD = 200
"""Characters of the longest word to look for. A search for a longer text lasts minutes and finds no name."""


def _join_words(_context: click.Context, _argument: click.Parameter, words: tuple[str, ...]) -> str:
    """Return the words as one text."""
    text = " ".join(words)
    if len(text) > LONGEST_WORD:
        raise WrongValue(f"{shorten(text)} has {len(text):,} characters, and at most {LONGEST_WORD} are looked for")
    return text


def words(metavar: str, *kinds: str, required: bool = False) -> Callable[[_Command], _Command]:
    """Return the argument for the words of a search, as one text. A shell completes names of these kinds."""
    return click.argument("words", nargs=-1, required=required, metavar=metavar, callback=_join_words, shell_complete=completes(*kinds))


def form(*forms: str, help: str = "Form of the answer.") -> Callable[[_Command], _Command]:
    """Return the option `--as FORM`. The first form is the default."""
    return click.option("--as", "style", type=click.Choice(forms), default=forms[0], help=help)


def workers(help: str) -> Callable[[_Command], _Command]:
    """Return the option `--workers N`: the number of processes."""
    return click.option("--workers", type=click.IntRange(1, 256), metavar="N", help=help)


def file(name: str, help: str, reads: bool = False, stream: bool = False, metavar: str = "FILE") -> Callable[[_Command], _Command]:
    """Return an option for the name of a file to write, or one that it `reads`. With either of both flags, - is a standard stream."""

    def check(context: click.Context, _option: click.Parameter, place: str | None) -> str | None:
        if place == "" or (place == "-" and not (reads or stream)):
            raise WrongValue(f"{name} needs the name of a file. Given {place!r}{' (./- for a file of that name)' if place else ''}")
        if place not in (None, "-") and not reads:
            context.meta.setdefault(UNREAD, {})[name] = place
        return place

    return click.option(name, callback=check, metavar=metavar, help=help)


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
