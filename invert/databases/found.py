"""The available databases: installed packages, and JSON files that are recognised by their shape."""

import json
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any, TypeAlias

from derive.errors import WrongData, shorten, suggest_for_file
from derive.files import called, content_or_input
from derive.tables.problems import Problem
from invert.databases import genai, litellm, models_dev, openrouter
from invert.databases.records import Database, Item, items_of

Listing: TypeAlias = tuple[Database, Iterator[Item]]
_FILES = (openrouter.FORMAT, models_dev.FORMAT, litellm.FORMAT)
"""Formats of JSON files. They are recognised by their shape, not by the name of the file."""
_GENAI, _LITELLM = _PACKAGES = (genai.FORMAT.name, litellm.FORMAT.name)


def listings(names: Sequence[str]) -> tuple[list[Listing], list[Problem]]:
    """Return the named databases (packages or files), or all installed packages if none is named, and a problem for each failure."""
    found: list[Listing] = []
    problems: list[Problem] = []
    for name in names or _PACKAGES:
        try:
            listing = listing_of(name)
            if listing:
                found.append(listing)
            elif names:
                problems.append(Problem(origin=name, message=f"is not installed: {_how_to_get(name)}"))
        except WrongData as error:
            place = called(name)
            origin, _, fault = str(error).partition(": ") if name in _PACKAGES else (place, "", str(error).removeprefix(place))
            problems.append(Problem(origin=origin, message=fault.lstrip(": ")))
    return found, problems


def _how_to_get(package: str) -> str:
    return f"pip install {'backsolve[prices]' if package == _GENAI else package}"


def not_installed() -> list[str]:
    """Return a note for each package that is not installed, with the command that installs it."""
    missing = [name for name in _PACKAGES if find_spec(name.replace("-", "_")) is None]
    return [f"{name}: is not installed, so not read: {_how_to_get(name)}" for name in missing]


def listing_of(name: str) -> Listing | None:
    """Return a database by the name of its package or of a JSON file (- is standard input), or None for a package that is not installed."""
    if name == _GENAI:
        package = genai.installed()
        return package and (package[1], items_of(genai.FORMAT, *package))
    if name == _LITELLM:
        place = litellm.installed()
        return place and (place[1], items_of(litellm.FORMAT, json_of(str(place[0])), place[1]))
    # A JSON file is recognised by its shape.
    content = json_of(name)
    form = next((form for form in _FILES if form.is_shape(content)), None)
    if form is None:
        known = ", ".join(form.name for form in _FILES)
        raise WrongData(f"{called(name)}: is not a known database ({known}), or has a newer format")
    database = Database(name=form.name)
    return database, items_of(form, content, database)


def json_of(place: str) -> Any:
    """Return the content of a JSON file. Raise WrongData if it is not JSON."""
    try:
        return json.loads(content_or_input(place), parse_constant=_no_number)
    except WrongData as error:
        if place in {form.name for form in _FILES}:
            raise WrongData(f"{place}: is not a package. Save the JSON that it serves, and give that file") from None
        raise WrongData(f"{error}{'' if place == '-' else suggest_for_file(place, _PACKAGES)}") from None
    except (ValueError, RecursionError) as error:
        raise WrongData(f"{called(place)}: is not JSON ({shorten(str(error))})") from None


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not a number")
