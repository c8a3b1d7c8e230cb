"""Write docs/reference/python.md: the public Python interface, from its signatures and docstrings.

python docs/generate_python.py           writes the file
python docs/generate_python.py --check   exits 1 if the file differs from what would be written
"""

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cached_property
from importlib import import_module
from itertools import chain, repeat
from pathlib import Path
from textwrap import dedent
from typing import Any

from written import REFERENCE, main

PAGE = REFERENCE / "python.md"
PACKAGES = ("derive", "invert")


def page() -> str:
    """Yield the packages with everything that each exports."""
    return "\n\n".join([*heading(), *(paragraph for package in PACKAGES for paragraph in exported(package))]) + "\n"


def heading() -> Iterator[str]:
    """Yield the introduction of the page."""
    yield "# Python"
    yield "Made by `python docs/generate_python.py` from the docstrings. Edit them instead of this page."


def exported(package: str) -> Iterator[str]:
    """Yield a package and every name that it exports."""
    module = import_module(package)
    yield f"## {package}"
    yield inspect.cleandoc(module.__doc__ or "")
    for name in module.__all__:
        thing = getattr(module, name)
        yield f"### {package}.{name}"
        if inspect.isroutine(thing):
            yield "\n".join(["```", f"{package}.{name}(", *(f"    {one}," for one in parameters(thing)), ")", "```"])
        yield from documented(thing)
        if inspect.isclass(thing):
            yield from members(thing)


def parameters(thing: Any) -> Iterator[str]:
    """The parameters of a function as its source writes them: how Python prints a type differs between its versions."""
    (definition,) = ast.parse(dedent(inspect.getsource(thing))).body
    assert isinstance(definition, ast.FunctionDef)
    given = definition.args
    plain = [*given.posonlyargs, *given.args]
    defaults = chain(repeat(None, len(plain) - len(given.defaults)), given.defaults)
    yield from (parameter(one, default) for one, default in zip(plain, defaults, strict=True))
    if given.vararg or given.kwonlyargs:
        yield f"*{parameter(given.vararg) if given.vararg else ''}"
    yield from (parameter(one, default) for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True))
    if given.kwarg:
        yield f"**{parameter(given.kwarg)}"


def parameter(one: ast.arg, default: ast.expr | None = None) -> str:
    """Return `name: type = default`, without missing parts."""
    written = one.annotation.value if isinstance(one.annotation, ast.Constant) else one.annotation and ast.unparse(one.annotation)
    return one.arg + (f": {written}" if written else "") + (f" = {ast.unparse(default)}" if default else "")


def members(thing: type) -> Iterator[str]:
    """Yield the fields of a record, and the first paragraph on each public method, inherited methods first."""
    fields = [f"- `{name}`" for name in thing.__dataclass_fields__ if not name.startswith("_")] if is_dataclass(thing) else []
    own = {name: one for base in reversed(thing.__mro__[:-1]) for name, one in vars(base).items()}
    asked = {name: one for name, one in own.items() if inspect.isroutine(one) or isinstance(one, property | cached_property)}
    said = ((name, inspect.getdoc(one)) for name, one in asked.items())
    methods = [f"- `{name}`: {text.split(chr(10) * 2)[0]}" for name, text in said if text and not name.startswith("_")]
    for title, lines in (("Fields:", fields), ("Methods and properties:", methods)):
        if lines:
            yield f"{title}\n\n" + "\n".join(lines)


def described(thing: Any) -> list[str]:
    """Yield the docstring of an object, and its fields if it is a record."""
    foreign = ("builtins", "types", "typing")
    kinds = [kind for kind in thing.__mro__ if kind.__module__ not in foreign] if inspect.isclass(thing) else [thing]
    return list(dict.fromkeys(inspect.getdoc(kind) or "" for kind in kinds))


def documented(thing: Any) -> Iterator[str]:
    """Return a docstring as Markdown, with its examples in blocks."""
    for paragraph in "\n\n".join(described(thing)).split("\n\n"):
        yield f"```pycon\n{paragraph}\n```" if paragraph.startswith(">>>") else paragraph


if __name__ == "__main__":
    sys.exit(main(Path(__file__).name, PAGE, page, sys.argv[1:]))
