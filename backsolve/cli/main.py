"""The `backsolve` command: its commands put together, and what it leaves with."""

import gc
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from backsolve.cli.common import Commands
from backsolve.streams import close, prepare, say
from derive.errors import INPUT_IS_WRONG, BacksolveError
from derive.version import VERSION

UNWRITTEN, _INTERRUPTED = 1, 130
_PLACES = {  # of each command: its module here, and its name there
    "solve": ("solve", "solve_command"),
    "list": ("catalogue", "list_command"),
    "show": ("catalogue", "show_command"),
    "explain": ("catalogue", "explain_command"),
    "cite": ("catalogue", "cite_command"),
    "claims": ("claims", "claims_command"),
    "infer": ("infer", "infer_command"),
    "validate": ("validate", "validate_command"),
    "prices": ("prices", "prices"),
    "plot": ("plot", "plot_command"),
    "site": ("site", "site_command"),
    "mcp": ("mcp", "mcp_command"),
}


class Loaded(Mapping[str, click.Command]):
    """The commands by name, each imported when it is asked for: nobody waits for those that are not."""

    def __getitem__(self, name: str) -> click.Command:
        module, attribute = _PLACES[name]
        command: click.Command = getattr(import_module(f"backsolve.cli.{module}"), attribute)
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


class Program(Commands):
    """Commands whose every mistake is a line or two on stderr and an exit status, never a traceback."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """As click does; help that nobody reads to its end is no failure."""
        with _unread():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """As click does; an answer that nobody reads to its end is no failure."""
        with _unread():
            return super().invoke(ctx)

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command and leave: 0 answered, 2 wrong input, 3 no answer, 1 when the answer could not be written out."""
        try:
            status = super().main(*args, **extra | {"standalone_mode": False})
            sys.stdout.flush()
        except BacksolveError as error:
            say(str(error))
            status = error.exit_status
        except click.ClickException as error:
            say(error.format_message().replace("\n", "\\n"))
            status = INPUT_IS_WRONG
        except click.Abort:
            status = _INTERRUPTED
        except BrokenPipeError:
            close(sys.stdout)
            status = 0
        except OSError as error:
            close(sys.stdout)
            say(f"the output cannot be written ({error.strerror})")
            status = UNWRITTEN
        sys.exit(status)


@contextmanager
def _unread() -> Iterator[None]:
    """A reader that left early ends the command in peace; click alone would call it a failure."""
    try:
        yield
    except BrokenPipeError:
        raise click.exceptions.Exit(0) from None


@click.group(cls=Program, commands=Loaded(), context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, message="%(prog)s %(version)s")
def backsolve() -> None:
    """Solve the equations of LLM serving for any unknown, and estimate what API prices reveal about models.

    \b
    backsolve infer                  estimates from every flagship price sheet
    backsolve infer gemini-3.1-pro   one sheet, --full for every reading
    backsolve solve balance_batch machine_balance_ratio=300 sparsity=8
    backsolve cite roofline.step_time --as bibtex

    \b
    Names complete in bash after: eval "$(_BACKSOLVE_COMPLETE=bash_source backsolve)"
    In zsh and fish it is zsh_source and fish_source.
    """


def main() -> None:
    """Run the command line of this process."""
    prepare()
    # The matrices here are small: threads of OpenBLAS wait longer than they work, and last digits would hang on their number.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Rows of prices hold no circles, and Python looks through all of them for some ever 700 of them: a third of the time of a large file.
    gc.set_threshold(100_000)
    if sys.stdout is None:
        say("the output cannot be written (standard output is closed)")
        sys.exit(UNWRITTEN)
    try:
        backsolve.main(prog_name="backsolve", windows_expand_args=False)
    finally:
        # What was loaded goes with the process. Python would look through all of it for circles first, a quarter second after SymPy.
        gc.freeze()
