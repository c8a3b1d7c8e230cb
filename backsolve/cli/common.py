"""Print answers and report problems, in the same way for all commands."""

from collections.abc import Iterable, Sequence
from shlex import quote
from typing import TYPE_CHECKING, NoReturn

import click

from backsolve.cli.options import is_stream
from backsolve.streams import fold_in_terminal, say, width
from derive.errors import INPUT_IS_WRONG, NO_ANSWER
from derive.show.layout import fold

if TYPE_CHECKING:
    from derive.tables.lines import Problem


def tell(text: str, style: str = "text") -> None:
    """Print an answer. Only text is folded to the width of the terminal."""
    click.echo(fold(text, width()) if style in ("text", "table", "plain") else text)


def tell_rows(form: str, rows: Iterable[Sequence[str]]) -> None:
    """Print rows in a form of `str.format` whose first column is as wide as its widest cell (`{:<{first}}`).

    A row is folded to the width of a terminal, and is one line for other programs.
    """
    found = [*rows]
    first = max((len(row[0]) for row in found), default=0)
    for row in found:
        click.echo(fold_in_terminal(form.format(*row, first=first)))


def leave(status: int) -> NoReturn:
    """End the command with an exit status."""
    click.get_current_context().exit(status)


def leave_without_sheets() -> NoReturn:
    """End a command that found no price sheet."""
    say("no sheet is valid on that day")
    leave(NO_ANSWER)


def tell_doubts(doubts: "Iterable[Problem]", own: object) -> None:
    """Print on stderr the number of doubtful prices in use, the first one, and the command that lists all."""
    if found := list(doubts):
        place = "" if own is None else " -" if is_stream(own) else f" {quote(getattr(own, 'place', str(own)))}"
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
