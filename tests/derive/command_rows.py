"""A command of a table, run as somebody types it."""

import shlex
from inspect import signature
from typing import Any

from click.testing import CliRunner, Result

from backsolve.cli.catalogue import run
from backsolve.cli.prices import backsolve

SEPARATE = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}


class _Entry:
    """The command behind `backsolve.cli.catalogue.run`, which maps mistakes to exit statuses."""

    name = "backsolve"

    def main(self, args: list[str], **_: Any) -> None:
        run(backsolve, list(args))


def outcome(command: str) -> Result:
    """What a command comes to, its answer as JSON; it may refuse, and never crashes."""
    said = CliRunner(**SEPARATE).invoke(_Entry(), [*shlex.split(command), "--as", "json"])
    assert said.exception is None or isinstance(said.exception, SystemExit), repr(said.exception)
    return said
