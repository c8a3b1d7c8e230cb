"""The standard streams of the command: nothing is lost or left half written, whatever they encode and however wide they are."""

import codecs
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from time import monotonic
from typing import TextIO
from unicodedata import normalize

import click

from derive.show.folding import fold

_IN_A_PIPE, _UNSAID = 100, 80
"""Columns of a line where no terminal sets them, and of a terminal that does not say."""

_LONGEST_LINE = 380
_LOOK_ALIKES = str.maketrans({
    "µ": "u", "μ": "u", "≤": "<=", "≥": ">=", "≠": "!=", "±": "+/-", "×": "x", "·": "*", "→": "->", "⚠": "!", "…": "...",
    **dict.fromkeys("‐‑–—−─", "-"), **dict.fromkeys("‘’“”", "'"),
})  # fmt: skip
"""What stands for a character where it cannot be written: no double quote, which would end a string of JSON."""


def nearest_ascii(error: UnicodeError) -> tuple[str, int]:
    r"""The ASCII nearest to what an encoding lacks: look-alikes, letters without their accents, or the code of the character.

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


class _Output(io.TextIOWrapper):
    """Text on a standard stream. An ASCII one is a mistake to click, which would write UTF-8 past it; so click is not told."""

    @property
    def encoding(self) -> str:  # type: ignore[override]  # typed as if it could be set, which io.TextIOWrapper refuses
        return "utf-8"


def prepare() -> None:
    """Standard output and error with a buffer of our own, which writes on after a short write, and look-alikes.

    The number of a standard stream that is closed is taken, or the next file that is opened would be written to.
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
            unwritten = os.fdopen(stream.fileno(), "wb", closefd=False)
            setattr(sys, name, _Output(unwritten, stream.encoding, "look-alike", line_buffering=name == "stderr" or stream.isatty()))


def close(stream: TextIO | None) -> None:
    """Send what is still buffered nowhere, so that leaving does not fail over it again."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def width(stream: TextIO | None) -> int:
    """Columns a line may take: those of the terminal, by COLUMNS or as it says itself, or 100 in a pipe or file."""
    if stream is None or not stream.isatty():
        return _IN_A_PIPE
    said = os.environ.get("COLUMNS", "")
    if said.isascii() and said.isdigit() and len(said) < 5 and int(said):
        return int(said)
    with suppress(OSError):
        return os.get_terminal_size(stream.fileno()).columns or _UNSAID
    return _UNSAID


def in_terminal(stream: TextIO | None) -> bool:
    """Whether a person reads along."""
    return stream is not None and stream.isatty()


def in_a_line(text: str) -> str:
    r"""A text of which nothing moves the cursor, in one line that is not too long; long words are cut.

    >>> print(in_a_line("row 3\x1b[2J"))
    row 3\x1b[2J
    """
    shown = "".join(mark if mark.isprintable() else ascii(mark)[1:-1] for mark in text)
    shown = re.sub(r"\S{81,}", lambda word: f"{word[0][:60]}...", shown)
    return shown if len(shown) <= _LONGEST_LINE else shown[:_LONGEST_LINE] + " ..."


def _for_a_reader(line: str, stream: TextIO | None) -> str:
    """A record of a log, which is one line; only a person has a width."""
    return fold(line, width(stream)) if in_terminal(stream) else line


_QUIET = 2.0
"""Seconds of work before a person is told how far it is."""


@contextmanager
def progress(what: str, parts: int) -> Iterator[Callable[[str], None]]:
    """Tell a person at a terminal, after two seconds, which of the parts is made: on stderr, in one line that goes at the end.

    Call what is handed out with the name of each part as it starts.
    """
    if not in_terminal(sys.stderr):
        yield lambda _: None
        return
    began, started = monotonic(), list[str]()

    def show() -> None:
        line = in_a_line(f"{what}: {started[-1]}{', ' if started[-1] else 'part '}{len(started)} of {parts}") if started else ""
        click.echo(f"\r{line:<{_UNSAID - 1}}", err=True, nl=False)

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
            click.echo(f"\r{'':<{_UNSAID - 1}}\r", err=True, nl=False)


def tell_line(message: str) -> None:
    """A record of an answer: nothing in it moves the cursor, long words are cut, and in a pipe it is one line."""
    click.echo(_for_a_reader(in_a_line(message), sys.stdout))


def say(message: str) -> None:
    """A message on stderr, line by line: nothing in it moves the cursor, and long words are cut."""
    for line in message.splitlines()[:2]:
        try:
            click.echo(_for_a_reader(f"backsolve: {in_a_line(line)}", sys.stderr), err=True)
        except OSError:
            close(sys.stderr)  # nobody hears it; the exit status says it as well
