"""The `backsolve` command: its subcommands and its exit status."""

import gc
import os
import sys
from collections import UserDict
from importlib import import_module
from typing import Any

import click

from backsolve.streams import close, prepare, say
from derive import VERSION
from derive.errors import INPUT_IS_WRONG, BacksolveError

UNWRITTEN, _INTERRUPTED = 1, 130
_COMPLETION = "_BACKSOLVE_COMPLETE"
"""The variable in which a shell asks for completions."""
_MODULES = {  # for each command: its module in this package
    **{name: name for name in ("solve", "infer", "prices", "validate", "plot", "site", "mcp")},
    **dict.fromkeys(("list", "show", "explain", "cite"), "catalogue"),
    "claims": "validate",
}

_EXTRAS = {
    **dict.fromkeys(("anyio", "jsonschema", "mcp"), "mcp"),
    **dict.fromkeys(("PIL", "jinja2", "markdown_it", "markupsafe", "mdit_py_plugins"), "site"),
}
"""The extra of each package that only some commands need."""


class Loaded(UserDict[str, Any]):
    """The commands by name. A command is imported when it runs, so other commands cost no time."""

    def __getitem__(self, name: str) -> click.Command:
        command: click.Command = getattr(import_module(f"backsolve.cli.{self.data[name]}"), f"{name}_command")
        return command


class Program(click.Group):
    """A group that reports every error as one or two lines on stderr and an exit status, never as a traceback."""

    def main(self, args: Any = None, *more: Any, **extra: Any) -> Any:
        """Run a command and exit: 0 answered, 2 wrong input, 3 no answer, 1 if the answer could not be written. Its object is the words."""
        words = sys.argv[1:] if args is None else [*args]
        try:
            status = super().main(words, *more, **extra | {"standalone_mode": False, "obj": words})
            sys.stdout.flush()
        except SystemExit as left:
            # Click exits after a completion, and if the reader of a pipe leaves early, which is no failure.
            status = left.code if _COMPLETION in os.environ else 0
        except BacksolveError as error:
            say(str(error))
            status = error.exit_status
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package not in _EXTRAS:
                raise
            say(f"this command needs {package}: pip install 'backsolve[{_EXTRAS[package]}]'")
            status = INPUT_IS_WRONG
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message())
            status = INPUT_IS_WRONG
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


@click.group(cls=Program, commands=Loaded(_MODULES), context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, message="%(prog)s %(version)s")
def backsolve() -> None:
    """Solve the equations of LLM serving for any unknown, and estimate what API prices reveal about models.

    \b
    backsolve infer                  estimates from every flagship price sheet
    backsolve infer gemini-3.1-pro   one sheet, --full for every reading
    backsolve solve balance_batch machine_balance_ratio=300 sparsity=8
    backsolve cite roofline.step_time --as bibtex

    \b
    Names complete in bash after this line. In zsh and fish it is zsh_source
    and fish_source: eval "$(_BACKSOLVE_COMPLETE=bash_source backsolve)"
    """


def main() -> None:
    """Run the command line of this process."""
    prepare()
    # The matrices are small: threads of OpenBLAS wait longer than they work, and the last digits would depend on their number.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Rows of prices have no reference cycles. Python would search them for cycles every 700 rows: a third of the time
    # of a large file. A sheet has fewer objects than this, so that its answer waits for no search.
    gc.set_threshold(500_000)
    if sys.stdout is None:
        say("the output cannot be written (standard output is closed)")
        sys.exit(UNWRITTEN)
    try:
        backsolve.main(prog_name="backsolve", windows_expand_args=False)
    finally:
        # Without this line Python searches all objects for reference cycles before it exits: a quarter of a second if SymPy is loaded.
        gc.freeze()
