"""Files that a person names: read with care, written whole or not at all."""

import io
import os
import signal
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, BinaryIO

from derive.errors import WrongData, shorten

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MIB = 1024**2
LARGEST = 128 * MIB
"""Bytes of a file that are read: two hundred thousand rows of prices with long notes, in a quarter of a GiB of memory."""

LARGEST_RESULT = 64 * MIB
"""Bytes of a saved result that is cited from or asked again: a market of four thousand sheets, in a third of a GiB of memory."""

PATIENCE, _PAUSE = 30.0, 0.05
"""Seconds that somebody else may write, and between two looks whether he is done."""

_HELD = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)]
"""Signals that end the process, and have to wait while a file is written."""


def label(path: str | os.PathLike[str]) -> str:
    """A path as messages name it: as it was given, unless it holds what would not print on one line.

    >>> label("run.json"), label("a\\nb")
    ('run.json', "'a\\\\nb'")
    """
    text = str(path)
    return text if text and text.isprintable() and len(text) <= 200 else shorten(text)


def opened(path: str | os.PathLike[str], limit: int = LARGEST) -> BinaryIO:
    """The file as a binary stream; `WrongData` for anything that is not a readable file of at most so many bytes.

    A pipe or device is refused because it may block or never end.
    """
    try:
        # Before it is opened, as opening a device may do something; and after, as it may be another one by then.
        _refuse_unreadable(os.stat(path), limit)
        file = io.FileIO(path, opener=_at_once)
        try:
            _refuse_unreadable(os.fstat(file.fileno()), limit)
        except OSError:
            file.close()
            raise
    except (OSError, ValueError) as error:
        raise WrongData(_unreadable(path, error)) from None
    return io.BufferedReader(_Bytes(file, path, limit))


def _refuse_unreadable(status: os.stat_result, limit: int) -> None:
    if stat.S_ISFIFO(status.st_mode):
        raise OSError("it is not a file; a pipe can be given as standard input with -")
    if not stat.S_ISREG(status.st_mode):
        raise OSError("it is not a file")
    if status.st_size > limit:
        raise OSError(f"it is larger than {size(limit)}")


def _unreadable(path: str | os.PathLike[str], error: Exception) -> str:
    return f"{label(path)} cannot be read: {getattr(error, 'strerror', None) or error}"


def _at_once(path: str, flags: int) -> int:
    """Opens and does not wait for whoever writes it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


class _Bytes(io.RawIOBase):
    """The bytes of a file; `WrongData` where they cannot be read, or are more than its size says and may be."""

    def __init__(self, file: io.FileIO, path: str | os.PathLike[str], limit: int):
        self.file, self.path, self.limit, self.left = file, path, limit, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        try:
            count = self.file.readinto(buffer)
            if count is None:
                raise OSError("it has to be waited for")
            self.left -= count
            if self.left < 0:
                raise OSError(f"it is larger than {size(self.limit)}")
        except OSError as error:
            raise WrongData(_unreadable(self.path, error)) from None
        return count

    def close(self) -> None:
        self.file.close()
        super().close()


def size(limit: int) -> str:
    """A limit of so many bytes in words.

    >>> size(LARGEST)
    '128 MiB'
    """
    return f"{limit // MIB} MiB"


def content_before(place: str) -> bytes:
    """What is in a file that is to be written anew, nothing where there is none yet; `WrongData` for what no file can replace."""
    if not os.path.exists(place):
        return b""
    if not os.path.isfile(place):
        raise WrongData(f"{label(place)}: cannot be written (it is not a file)")
    with opened(place) as stream:
        return stream.read()


def standard_input() -> BinaryIO:
    """The bytes of standard input; `WrongData` where it is closed."""
    if sys.stdin is None:
        raise WrongData("- is standard input, and that is closed: pipe something into it, or name a file")
    return sys.stdin.buffer


def called(place: str) -> str:
    """What messages call the file of that name, which - says is standard input."""
    return "standard input" if place == "-" else label(place)


def content_of(place: str, limit: int = LARGEST) -> bytes:
    """What is in a file, or in standard input where its name is -; `WrongData` where that is not readable or larger than so much."""
    with nullcontext(standard_input()) if place == "-" else opened(place, limit) as stream:
        try:
            found = stream.read(limit + 1)
        except OSError as error:
            raise WrongData(f"{called(place)} cannot be read: {error.strerror or error}") from error
    if len(found) > limit:
        raise WrongData(f"{called(place)} cannot be read: it is larger than {size(limit)}")
    return found


def write(place: str, content: str | bytes) -> None:
    """The file whole or not at all, by way of a new one beside it. A file that was there keeps its permissions."""
    try:
        path = os.path.realpath(place)
        before = _replaceable(path)
        beside = os.path.join(os.path.dirname(path), f".backsolve-{os.urandom(8).hex()}")
        with _signals_held():
            try:
                with open(beside, "xb", opener=_private if before else None) as file:
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
    except (OSError, ValueError) as error:
        raise WrongData(f"{label(place)}: cannot be written ({getattr(error, 'strerror', None) or error})") from error


@contextmanager
def alone(place: str) -> Iterator[None]:
    """Nobody else who asks for it is between reading and writing this file; `WrongData` where somebody is for too long.

    It is the folder that is held, which leaves nothing behind, also where the process is killed. On Windows nothing is held.
    """
    if sys.platform == "win32":
        yield
        return
    try:
        folder = os.open(os.path.dirname(os.path.realpath(place)), os.O_RDONLY)
    except (OSError, ValueError) as error:
        raise WrongData(f"{label(place)}: cannot be written ({getattr(error, 'strerror', None) or error})") from error
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


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _replaceable(path: str) -> os.stat_result | None:
    """What is known of the file that a new one is to replace, if there is one; OSError where it may not be replaced."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError("it is not a file")
    # A rename asks leave of the folder only.
    if not found.st_mode & 0o222 or not os.access(path, os.W_OK):
        raise OSError("it is read-only")
    if any(os.path.samestat(found, output) for output in _outputs()):
        raise OSError("the answer itself goes there")
    return found


def _outputs() -> Iterator[os.stat_result]:
    """What is known of the files behind standard output and standard error."""
    for number in (1, 2):
        with suppress(OSError):
            yield os.fstat(number)


@contextmanager
def _signals_held() -> Iterator[None]:
    """Signals that would end the process do so afterwards: no half of a file stays behind."""
    if current_thread() is not main_thread():  # where Python lets nobody set a handler
        yield
        return
    met: list[int] = []
    before = {number: signal.signal(number, lambda number, _frame: met.append(number)) for number in _HELD}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        for number in met:
            signal.raise_signal(number)
