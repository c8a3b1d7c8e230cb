"""The standard streams: what an encoding lacks, and how wide a line may be."""

import os
import struct
import subprocess

import pytest

from backsolve.streams import width
from tests.tools.commands import COMMAND, DEPLOYED, GEMINI, STEP, call, in_terminals
from tests.tools.together import in_one_test

NO_UTF8 = [  # encoding, command, what it prints
    ("ascii", ("solve", "--help"), "mfu=0.4+/-0.1"),
    ("ascii", ("infer",), "gemini-3.1-pro-preview"),
    ("cp1252", (*GEMINI, "--full"), "1.667 kB/token"),
    ("cp932", (*STEP, "compute_time=20us", "memory_time=10us"), "step_time = 20 us"),
    ("koi8-r", (*STEP, "compute_time=20us", "memory_time=10us"), "step_time = 20 us"),
    ("latin-1", (*STEP, "compute_time=20us", "memory_time=10us"), "step_time = 20 µs"),
]


@pytest.mark.slow
@in_one_test(("encoding", "arguments", "holds"), NO_UTF8, ids=[f"{row[0]} {row[1][0]}" for row in NO_UTF8])
def test_what_an_encoding_lacks_is_written_as_what_looks_like_it(encoding: str, arguments: tuple[str, ...], holds: str):
    done = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, check=False, timeout=60, env={**os.environ, "PYTHONIOENCODING": encoding}
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert holds in done.stdout.decode(encoding)


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals there")
def test_lists_and_long_forms_fit_the_terminal():
    commands = (("list", "--quantities"), (*STEP, *DEPLOYED, "n=16", "B=1", "L=4k"))
    for arguments, text in in_terminals({arguments: (80, arguments) for arguments in commands}).items():
        assert max(map(len, text.splitlines())) <= 80
        assert "".join(text.split()).startswith("".join(call(*arguments).out.split())[:200])


LONG_FORMS = (
    GEMINI, ("show", "batching.balance_batch"), ("show", "GLM-4.5"), (*STEP, *DEPLOYED, "chips=16", "batch=1", "L=4k"),
)  # fmt: skip


@in_one_test("arguments", LONG_FORMS, ids=" ".join)
def test_lines_of_a_long_form_have_at_most_100_columns_in_a_pipe(arguments: tuple[str, ...]):
    said = call(*arguments)
    assert said.status == 0 and max(map(len, said.out.splitlines())) <= 100


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals there")
@pytest.mark.parametrize(
    ("columns", "said", "expected"),
    [(60, "", 60), (0, "", 80), (60, "72", 72), (0, "0", 80), (60, "0", 60), (60, "-3", 60), (60, "9" * 5000, 60), (60, "abc", 60)],
)
def test_the_width_is_that_of_the_terminal(monkeypatch, columns: int, said: str, expected: int):
    """COLUMNS goes first where it is a number of columns; a terminal that does not know its width has 80."""
    import fcntl
    import pty
    import termios

    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    monkeypatch.setenv("COLUMNS", said)
    with open(writer, "w") as terminal:
        assert width(terminal) == expected
    os.close(reader)


def test_without_a_terminal_a_line_has_columns_or_100(monkeypatch, tmp_path):
    monkeypatch.delenv("COLUMNS", raising=False)
    with open(tmp_path / "out", "w") as out:
        assert width(out) == width(None) == 100
        monkeypatch.setenv("COLUMNS", "40")
        assert width(out) == width(None) == 40
