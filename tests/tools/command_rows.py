"""A command of a table, run as somebody types it."""

import shlex
from inspect import signature

from click.testing import CliRunner, Result

from backsolve.cli.main import backsolve

SEPARATE = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}


def outcome(command: str) -> Result:
    """What a command comes to, its answer as JSON; it may refuse, and never crashes."""
    said = CliRunner(**SEPARATE).invoke(backsolve, [*shlex.split(command), "--as", "json"])
    assert said.exception is None or isinstance(said.exception, SystemExit), repr(said.exception)
    return said
