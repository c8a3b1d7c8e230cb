"""Read and write the files that a person names. A file is written whole or not at all."""

import json
import os
import signal
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from derive.errors import BacksolveError, WrongData, shorten

if sys.platform != "win32":
    import fcntl

MIB = 1024**2
LARGEST = 128 * MIB
"""Bytes of a file that are read: two hundred thousand rows of prices with long notes, in a quarter of a GiB of memory."""

LARGEST_RESULT = 64 * MIB
"""Maximum bytes of a saved result that is cited or repeated: a market of four thousand sheets, in a third of a GiB of memory."""

STANDARD_INPUT = "standard input"
"""The name of standard input, and of any other stream, in messages."""

PATIENCE, _PAUSE = 30.0, 0.05
"""Seconds to wait for another process that writes, and between two checks."""


def label(path: str | os.PathLike[str]) -> str:
    """Return a path for a message: unchanged, or quoted if it would not print on one line.

    >>> label("run.json"), label("a\\nb")
    ('run.json', "'a\\\\nb'")
    """
    text = str(path)
    return text if text and text.isprintable() and len(text) <= 200 else shorten(text)


@contextmanager
def file_errors(place: str | os.PathLike[str], action: str = "written") -> Iterator[None]:
    """Raise `WrongData` with the name of the file or folder if it cannot be written, or read."""
    try:
        yield
    except BacksolveError:
        raise
    except (OSError, ValueError) as error:
        raise WrongData(f"{label(place)}: cannot be {action} ({getattr(error, 'strerror', None) or label(str(error))})") from error


def content_of(place: str | os.PathLike[str], limit: int = LARGEST) -> bytes:
    """Return the content of a file. Raise `WrongData` unless it is a readable file of at most `limit` bytes.

    A pipe or device is refused because it may block or never end.
    """
    with file_errors(place, "read"):
        # Checked before, because opening a device may have effects, and after, because the file may have been replaced.
        _refuse_unreadable(os.stat(place), limit)
        with open(place, "rb", opener=lambda path, flags: os.open(path, flags | getattr(os, "O_NONBLOCK", 0))) as file:
            status = os.fstat(file.fileno())
            _refuse_unreadable(status, limit)
            return _read_to_limit(file, limit, status.st_size)


def content_of_stream(stream: Any, limit: int = LARGEST) -> bytes:
    """Return the rest of a stream of bytes or text. Raise `WrongData` if it is unreadable or larger than the limit."""
    with file_errors(STANDARD_INPUT, "read"):
        # The bytes below a text stream, because its decoder does not name the file.
        return _read_to_limit(getattr(stream, "buffer", stream), limit)


def _read_to_limit(stream: Any, limit: int, expected: int = LARGEST) -> bytes:
    # A buffer of the whole limit takes longer than most files.
    found = stream.read(min(limit, expected) + 1) or b""
    if expected < len(found) <= limit:
        found += stream.read(limit + 1 - len(found))
    if len(found) > limit:
        raise OSError(f"it is larger than {size(limit)}")
    return found.encode(errors="replace") if isinstance(found, str) else found


def _refuse_unreadable(status: os.stat_result, limit: int) -> None:
    if stat.S_ISFIFO(status.st_mode):
        raise OSError("it is not a file; a pipe can be given as standard input with -")
    if not stat.S_ISREG(status.st_mode):
        raise OSError("it is not a file")
    if status.st_size > limit:
        raise OSError(f"it is larger than {size(limit)}")


def size(limit: int) -> str:
    """Return a limit in bytes as words."""
    return f"{limit // MIB} MiB"


def content_before(place: str) -> bytes:
    """Return the content of a file before it is written, empty if there is no file. Raise `WrongData` if no file can replace it."""
    with file_errors(place):
        exists = _replaceable(os.path.realpath(place))
    return content_of(place) if exists else b""


def standard_input() -> BinaryIO:
    """Return the bytes of standard input. Raise `WrongData` if it is closed."""
    if sys.stdin is None:
        raise WrongData("- is standard input, and that is closed: pipe something into it, or name a file")
    return sys.stdin.buffer


def called(place: str) -> str:
    """Return the name of a file for messages. The name - means standard input."""
    return STANDARD_INPUT if place == "-" else label(place)


def content_or_input(place: str, limit: int = LARGEST) -> bytes:
    """Return the content of a file, or of standard input for the name -. Raise as `content_of` does."""
    return content_of_stream(standard_input(), limit) if place == "-" else content_of(place, limit)


def json_of(place: str, limit: int = LARGEST, **how: Any) -> Any:
    """Return the value of a JSON file, or of standard input for the name -. Raise `WrongData` for any other content."""
    return json_in(content_or_input(place, limit), called(place), **how)


def json_in(content: bytes, origin: str, **how: Any) -> Any:
    """Return the value of a JSON text. Raise `WrongData` with the name of its file for any other text."""
    try:
        return json.loads(content, **how)
    except (ValueError, RecursionError) as error:
        why = f"{error.msg}, line {error.lineno}" if isinstance(error, json.JSONDecodeError) else shorten(str(error))
        raise WrongData(f"{origin}: is not JSON ({why})") from None


def write(place: str, content: str | bytes) -> None:
    """Write a file whole or not at all, through a temporary file in its folder. An existing file keeps its permissions."""
    with file_errors(place):
        path = os.path.realpath(place)
        before = _replaceable(path)
        beside = os.path.join(os.path.dirname(path), f".backsolve-{os.urandom(8).hex()}")
        with _signals_held():
            try:
                with open(beside, "xb", opener=(lambda path, flags: os.open(path, flags, 0o600)) if before else None) as file:
                    file.write(content.encode() if isinstance(content, str) else content)
                    file.flush()
                    os.fsync(file.fileno())
                if before:
                    os.chmod(beside, stat.S_IMODE(before.st_mode))
                os.replace(beside, path)
            except BaseException:
                with suppress(OSError):
                    os.unlink(beside)
                raise


@contextmanager
def alone(place: str) -> Iterator[None]:
    """Lock the folder of a file while it is read and written. Raise `WrongData` if another process keeps the lock too long.

    The lock leaves no file behind, even if the process is killed. On Windows there is no lock.
    """
    if sys.platform == "win32":
        yield
        return
    with file_errors(place):
        folder = os.open(os.path.dirname(os.path.realpath(place)), os.O_RDONLY)
    try:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() > until:
                    raise WrongData(f"{label(place)}: another process has been writing in its folder for {PATIENCE:g} s") from None
                time.sleep(_PAUSE)
        yield
    finally:
        os.close(folder)


def _replaceable(path: str) -> os.stat_result | None:
    """Return the status of the file to be replaced, or None if it does not exist. Raise OSError if it may not be replaced."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError("it is not a file")
    # A rename checks the permissions of the folder only.
    if not found.st_mode & 0o222 or not os.access(path, os.W_OK):
        raise OSError("it is read-only")
    if any(os.path.samestat(found, output) for output in _outputs()):
        raise OSError("the answer itself goes there")
    return found


def _outputs() -> Iterator[os.stat_result]:
    """Yield the status of the files behind standard output and standard error."""
    for number in (1, 2):
        with suppress(OSError):
            yield os.fstat(number)


@contextmanager
def _signals_held() -> Iterator[None]:
    """Delay signals that would end the process until a file is written whole."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
