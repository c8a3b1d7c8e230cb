"""Write docs/reference/cli.md, the reference of the command line, from the commands themselves.

    python docs/generate_cli.py           writes the file
    python docs/generate_cli.py --check   exits 1 if the file differs from what would be written

Only names, metavars, choices and help texts are read, not click's formatted help, so that neither the width of the
terminal nor the version of click shows in the file.
"""

import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

import click
from written import main

from backsolve.cli.main import UNWRITTEN, backsolve
from derive.errors import INPUT_IS_WRONG, NO_ANSWER

PAGE = Path(__file__).with_name("reference") / "cli.md"
VERBATIM = "\b"
"""The line with which a docstring tells click to leave the next paragraph as it is."""


def page() -> str:
    """Return the whole page: the program, then every command by name."""
    sections = [section for path, command in commands() for section in describe(path, command)]
    return "\n\n".join([*heading(), *sections]) + "\n"


def heading() -> list[str]:
    """Return the paragraphs that apply to every command."""
    helps = " or ".join(f"`{spelling}`" for spelling in backsolve.context_settings["help_option_names"])
    return [
        "# Command line",
        "Made by `python docs/generate_cli.py` from the commands. Edit them instead of this page.",
        f"Every command takes {helps} and prints its own page.",
        f"Exit status: 0 answered, {INPUT_IS_WRONG} the input is wrong, {NO_ANSWER} the question has no answer,"
        f" {UNWRITTEN} the answer could not be written out. Errors go to standard error in a line or two.",
        'A shell completes commands, options and their values after `eval "$(_BACKSOLVE_COMPLETE=bash_source backsolve)"`.'
        " For zsh and fish write `zsh_source` and `fish_source`.",
    ]


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield every command by its full name, each group before its commands."""
    waiting: list[tuple[str, click.Command]] = [("backsolve", backsolve)]
    while waiting:
        path, command = waiting.pop(0)
        yield path, command
        inside = getattr(command, "commands", {})
        waiting[:0] = [(f"{path} {name}", inside[name]) for name in sorted(inside)]


def describe(path: str, command: click.Command) -> list[str]:
    """Yield the paragraphs of one command: its name, its call, its description and its options."""
    options = [option(one) for one in command.params if isinstance(one, click.Option)]
    return [f"## {path}", f"```\n{usage(path, command)}\n```", *paragraphs(command.help or ""), *(["\n".join(options)] if options else [])]


def usage(path: str, command: click.Command) -> str:
    """`backsolve infer [OPTIONS] [MODEL]...`"""
    options = ["[OPTIONS]"] if any(isinstance(one, click.Option) for one in command.params) else []
    arguments = [one.metavar or (one.name or "").upper() for one in command.params if isinstance(one, click.Argument)]
    inside = ["COMMAND [ARGUMENT]..."] if getattr(command, "commands", {}) else []
    return " ".join([path, *options, *arguments, *inside])


def paragraphs(text: str) -> Iterator[str]:
    """Return a docstring as Markdown: one line for each paragraph, and verbatim paragraphs in a block."""
    for paragraph in cleandoc(text).split("\f")[0].strip().split("\n\n"):
        mark, _, rest = paragraph.partition("\n")
        yield f"```\n{rest}\n```" if mark == VERBATIM else escaped(" ".join(paragraph.split()))


def option(one: click.Option) -> str:
    """Return one option as a list item: spellings, value, help, whether it may be repeated, and its default if it has one."""
    value = "" if one.is_flag else f" {placeholder(one)}"
    spellings = ", ".join(f"`{spelling}{value}`" for spelling in (*one.opts, *one.secondary_opts))
    said = " ".join((one.help or "").split())
    repeated = " May be repeated." if one.multiple and "repeated" not in said else ""
    default = f" Default: `{one.default}`." if isinstance(one.default, str) and one.default else ""
    return f"- {spellings}: {escaped(said)}{repeated}{default}"


def placeholder(one: click.Option) -> str:
    """Return the placeholder of a value: the metavar, else the choices, else the name of the type."""
    if one.metavar:
        return one.metavar
    if isinstance(one.type, click.Choice):
        return "|".join(str(choice) for choice in one.type.choices)
    return one.type.name.upper()


def escaped(text: str) -> str:
    """Return plain text with the special characters of Markdown escaped."""
    return "".join(f"\\{sign}" if sign in "\\`*<[" else sign for sign in text)


if __name__ == "__main__":
    sys.exit(main(Path(__file__).name, PAGE, page, sys.argv[1:]))
