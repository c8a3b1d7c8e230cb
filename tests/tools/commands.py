"""The command as a stranger uses it: in this process, as the installed script, and in a terminal."""

import os
import struct
import subprocess
import sys
import sysconfig
import threading
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

from backsolve.cli.main import backsolve
from tests.tools.tables import FROZEN

SCRIPT = Path(sysconfig.get_path("scripts")) / ("backsolve.exe" if os.name == "nt" else "backsolve")
COMMAND = (
    *(sys.executable, "-c"),
    f"import sys; sys.argv[0] = 'backsolve'; from derive.tables import shipped; shipped.FOLDER = {str(FROZEN)!r}\n"
    "from backsolve.__main__ import main; main()",
)
"""What starts the command in a process of its own with the tables of the tests; `SCRIPT` reads those that ship."""
CONTROL = "\x1b[2J\x07"


class Said(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str


def call(*arguments: str, stdin: bytes | None = None, color: bool = False) -> Said:
    done = CliRunner().invoke(backsolve, list(arguments), input=stdin and BytesIO(stdin), color=color)
    assert done.exception is None or isinstance(done.exception, SystemExit), f"{arguments}: {done.exception!r}"
    return Said(done.exit_code, done.stdout, done.stderr)


def script(*arguments: str, **more: Any) -> subprocess.CompletedProcess:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, timeout=60, **more)


def refused(*arguments: str, status: int = 2, stdin: bytes | None = None) -> str:
    """The message of a command that prints nothing but a line or two of plain text on stderr."""
    said = call(*arguments, stdin=stdin, color=True)
    assert said.status == status, said
    assert said.out == ""
    plain(said.err)
    return said.err


def plain(message: str) -> None:
    assert message.endswith("\n") and 1 <= message.count("\n") <= 2, message[:500]
    assert all(line.startswith("backsolve: ") and len(line) < 400 for line in message.splitlines()), message[:500]
    assert message.replace("\n", "").isprintable(), repr(message[:500])
    assert "Traceback" not in message


STEP = ("solve", "step_time")
STAR = ("solve", "balance_batch")
GEMINI = ("infer", "gemini-3.1-pro")
DEPLOYED = ("--hardware", "H100-SXM:fp8", "--model", "DeepSeek-V3", "bytes_per_element=1")
COLUMNS = "provider,model,component,amount,threshold_tokens,effective_date,valid_to,notes"
GOOD = ("other,n,input,1,,,,", "other,n,output,5,,,,")
OUTPUT = "acme,m,output,10,,,,"


def price_file(*rows: str, header: str = COLUMNS) -> bytes:
    return "\n".join([header, *rows, ""]).encode()


def in_terminals(commands: dict[Any, tuple[int, tuple[str, ...]]]) -> dict[Any, str]:
    """What each command prints in a terminal of so many columns; all run at once."""
    import fcntl
    import pty
    import termios

    printed: dict[Any, str] = {}
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}

    def run_in_terminal(name: Any, columns: int, arguments: tuple[str, ...]) -> None:
        reader, writer = pty.openpty()
        fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        process = subprocess.Popen([*COMMAND, *arguments], stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE, env=environment)
        os.close(writer)
        chunks = []
        try:
            while chunk := os.read(reader, 65536):
                chunks.append(chunk)
        except OSError:
            pass  # how a terminal says on Linux that nobody holds its other end
        os.close(reader)
        complaint = process.communicate(timeout=60)[1]
        assert (process.returncode, complaint) == (0, b"")
        printed[name] = b"".join(chunks).decode().replace("\r\n", "\n")

    threads = [threading.Thread(target=run_in_terminal, args=(name, *command)) for name, command in commands.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=90)
    assert printed.keys() == commands.keys()
    return printed
