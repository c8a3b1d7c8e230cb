"""Print answers, messages and problems: every character completely, in any encoding and at any width."""

import codecs
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from shlex import quote
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn, TextIO
from unicodedata import normalize

import click

from derive.errors import INPUT_IS_WRONG, NO_ANSWER
from derive.files import STANDARD_INPUT
from derive.show.layout import fold, padded, widest_of, wrap_text

if TYPE_CHECKING:
    from derive.tables.lines import Problem
    from invert.result import Run

_PIPE_COLUMNS, _TERMINAL_COLUMNS = 100, 80
"""Columns of a line in a pipe, and in a terminal that does not state its width."""

_LONGEST_LINE = 380
_LOOK_ALIKES = str.maketrans({
    "µ": "u", "μ": "u", "≤": "<=", "≥": ">=", "≠": "!=", "±": "+/-", "×": "x", "·": "*", "→": "->", "⚠": "!", "…": "...",
    **dict.fromkeys("‐‑–—−─", "-"), **dict.fromkeys("‘’“”", "'"),
})  # fmt: skip
"""Substitutes for characters that the encoding lacks. None is a double quote, which would end a string of JSON."""


def nearest_ascii(error: UnicodeError) -> tuple[str, int]:
    r"""Return ASCII for the characters that an encoding lacks: look-alikes, letters without accents, or the code of the character.

    >>> codecs.register_error("look-alike", nearest_ascii)
    >>> "20 µs ± 1 ≤ Żółć 東".encode("ascii", "look-alike")
    b'20 us +/- 1 <= Zo\\u0142c \\u6771'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_plain, error.object[error.start : error.end])), error.end


def _plain(mark: str) -> str:
    if ord(mark) in _LOOK_ALIKES:
        return mark.translate(_LOOK_ALIKES)
    letter = normalize("NFD", mark)[0]
    return letter if mark.isalpha() and letter.isascii() else ascii(mark)[1:-1]


UNREAD = "backsolve.unread"
"""The key in `Context.meta` of the files that a command writes, by option. It continues if the reader of its output leaves."""


class _Descriptor(io.FileIO):
    """The bytes of a standard stream. Without a reader, a command that writes a file discards them, and any other command ends."""

    def write(self, data: Any, /) -> int:
        """Write bytes and return their number."""
        try:
            return super().write(data)
        except BrokenPipeError:
            context = click.get_current_context(silent=True)
            if context is None or UNREAD not in context.meta:
                raise
            return memoryview(data).nbytes


class _Output(io.TextIOWrapper):
    """Text on a standard stream. It reports UTF-8, because click would bypass a stream that reports ASCII."""

    @property
    def encoding(self) -> str:  # type: ignore[override]  # typed as if it could be set, which io.TextIOWrapper refuses
        return "utf-8"


def prepare() -> None:
    """Replace standard output and error by streams with look-alikes and a buffer that continues after a short write.

    Open the null device for a closed standard stream. Otherwise the next opened file would get its number and its text.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    codecs.register_error("look-alike", nearest_ascii)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None:
            unwritten = io.BufferedWriter(_Descriptor(stream.fileno(), "wb", closefd=False))
            setattr(sys, name, _Output(unwritten, stream.encoding, "look-alike", line_buffering=name == "stderr" or stream.isatty()))


def close(stream: TextIO | None) -> None:
    """Discard the buffered text, because the exit would fail to write it again."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def width(stream: TextIO | None = None) -> int:
    """Return the columns of a line, by default on stdout: COLUMNS, else the width of the terminal, or 100 in a pipe or file."""
    said, stream = os.environ.get("COLUMNS", ""), stream or sys.stdout
    if said.isascii() and said.isdigit() and len(said) < 5 and int(said):
        return int(said)
    if not in_terminal(stream):
        return _PIPE_COLUMNS
    with suppress(OSError):
        return os.get_terminal_size(stream.fileno()).columns or _TERMINAL_COLUMNS
    return _TERMINAL_COLUMNS


def in_terminal(stream: TextIO | None = None) -> bool:
    """Return whether a stream, by default stdout, is a terminal."""
    stream = stream or sys.stdout
    return stream is not None and stream.isatty()


def escape_line(text: str) -> str:
    r"""Return a text as one line of limited length, with control characters escaped and long words cut.

    >>> print(escape_line("row 3\x1b[2J"))
    row 3\x1b[2J
    """
    shown = "".join(mark if mark.isprintable() else ascii(mark)[1:-1] for mark in text)
    shown = re.sub(r"\S{81,}", lambda word: f"{word[0][:60]}...", shown)
    return shown if len(shown) <= _LONGEST_LINE else shown[:_LONGEST_LINE] + " ..."


def fold_in_terminal(line: str, stream: TextIO | None = None) -> str:
    """Return a line, folded to the width of the stream if that is a terminal."""
    return fold(line, width(stream)) if in_terminal(stream) else line


_QUIET = 2.0
"""Seconds of work before the progress is shown."""


@contextmanager
def progress(what: str, parts: int = 0) -> Iterator[Callable[[str], None]]:
    """Show the current part of the work in a terminal after two seconds: one line on stderr, removed at the end.

    Call the yielded function with the name of each part when the part starts. `parts` is the number of parts, if it is known.
    """
    if not in_terminal(sys.stderr):
        yield lambda _: None
        return
    began, started = monotonic(), list[str]()

    def show() -> None:
        name = started[-1] if started else ""
        count = f"{', ' if name else 'part '}{len(started)} of {parts}" if parts and started else ""
        line = escape_line(f"{what}: {name}{count}") if started else ""
        click.echo(f"\r{line:<{_TERMINAL_COLUMNS - 1}}", err=True, nl=False)

    def starting(name: str) -> None:
        started.append(name)
        if monotonic() - began >= _QUIET:
            show()

    clock = Timer(_QUIET, show)
    clock.daemon = True
    clock.start()
    try:
        yield starting
    finally:
        clock.cancel()
        if monotonic() - began >= _QUIET:
            click.echo(f"\r{'':<{_TERMINAL_COLUMNS - 1}}\r", err=True, nl=False)


def tell_line(message: str) -> None:
    """Print a line of an answer: control characters escaped, long words cut, and one line in a pipe."""
    click.echo(fold_in_terminal(escape_line(message)))


def say(message: str) -> None:
    """Print the first two lines of a message on stderr and count the others, with control characters escaped and long words cut."""
    first, *others = dict.fromkeys(message.splitlines()) or [""]
    more = f" (and {len(others) - 1} more)" if others[1:] else ""
    for line in (first, *(f"{other}{more}" for other in others[:1])):
        try:
            click.echo(fold_in_terminal(f"backsolve: {escape_line(line)}", sys.stderr), err=True)
        except OSError:
            close(sys.stderr)  # no stream is left for the message, and the exit status reports the failure too


# -- answers and problems ---------------------------------------------------------------------------------------------


def tell(text: str, style: str = "text") -> None:
    """Print an answer. Only text is folded to the width of the terminal."""
    click.echo(fold(text, width()) if style in ("text", "table", "plain") else text)


def tell_rows(rows: Iterable[Sequence[str]]) -> None:
    """Print rows in columns, folded to the width. The last cell continues below itself if it has half of the width."""
    found, room = [*rows], width()
    widths = [widest_of(column) for column in zip(*found, strict=True)]
    for *cells, last in found:
        start = "".join(f"{padded(cell, wide)}  " for cell, wide in zip(cells, widths, strict=False))
        tell("\n".join(wrap_text(last, room, start, len(start))) if len(start) <= room // 2 else start + last)


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
        named = getattr(own, "place", str(own))
        place = "" if own is None else " -" if named == STANDARD_INPUT else f" {quote(named)}"
        counted = "1 doubtful price" if len(found) == 1 else f"{len(found)} doubtful prices, the first"
        end = "" if found[0].message.endswith("?") else "."
        say(f"{counted}: {found[0]}{end} All: backsolve prices check{place}")


def tell_notes(run: "Run", own: object) -> None:
    """Print on stderr the notes on a run, and the doubtful prices in use."""
    for note in run.notes:
        say(note)
    tell_doubts(run.doubts, own)


def report_problems(problems: Iterable[object]) -> bool:
    """Print every problem on stderr. Return whether there is one."""
    found = list(problems)
    for problem in found:
        say(str(problem))
    return bool(found)


def fail_on(problems: Iterable[object]) -> None:
    """Print every problem and end with the status of wrong input. Call it after the answer is printed."""
    if report_problems(problems):
        leave(INPUT_IS_WRONG)
