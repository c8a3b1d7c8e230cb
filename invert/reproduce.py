"""A saved result asked again: what was asked, read with care from the file, and what has changed since.

Nothing in the file is taken for more than it is: the question as if it had been typed, and files as they were, not where they were.
"""

import json
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from math import isclose
from typing import Any, TypeVar

from derive.briefly import brief
from derive.errors import WrongData, shorten
from derive.files import LARGEST_RESULT, called, content_of, label
from derive.quantities.aliases import with_new_names
from invert.anchors import assumptions_of, given_anchors
from invert.assumptions import USUAL, assumptions_as_record
from invert.data import read_data
from invert.provenance import Made, made_with
from invert.report.contract import BASE_64, SCHEMA, UTF_8
from invert.report.contract import saved as as_saved
from invert.result import Request, Run, Shown
from invert.sheets.assemble import day_of
from invert.sheets.diff import SHIPPED
from invert.sheets.read import book_of
from invert.sheets.sheet import FileText

_T = TypeVar("_T")

_MOST_ASKED = 4096
"""Names of a kind that one question has."""
_MADE_WITH = ("versions", "seeds", "tables", "assumptions", "rows")
"""What a saved run holds of itself that is no answer."""
_HASH_SHOWN = 8
"""Digits of a hash that tell two tables apart."""
_LAST_DIGITS = 1e-9
"""Relative difference of two versions of a library or two machines, up to which a number is reproduced."""
_MOST_LISTED = 5
"""Tables or assumptions that a line names."""


@dataclass(frozen=True, kw_only=True)
class SavedRun:
    """What a saved result says of its run: the question, what it was made with, and what it found. `as_of` is the day it came to."""

    __repr__ = brief

    place: str
    request: Request
    anchors: Mapping[str, float]
    changes: Mapping[str, str]
    shown: Shown
    as_of: date
    made: Made
    assumptions: Mapping[str, object]
    found: Mapping[str, object]


def saved_run(path: str) -> SavedRun:
    """The run of a file that `--save` wrote, or of standard input where its name is -; `WrongData` for any other, in one line."""
    place, content = called(path), content_of(path, LARGEST_RESULT)
    try:
        document = json.loads(content, parse_constant=_refuse_constant, object_hook=with_new_names)
    except (ValueError, RecursionError) as error:
        raise _none(place, f"it is not JSON: {shorten(str(error))}") from None
    if isinstance(document, list):
        raise _none(place, "a list, as --as json prints it, does not say what was asked")
    if not isinstance(document, dict) or not isinstance(document.get("schema"), str):
        raise _none(place, "it names no schema")
    if document["schema"] != SCHEMA:
        raise _none(place, f"its schema is {shorten(document['schema'])}, and {SCHEMA!r} is what is read here")
    try:
        return _run_of(place, document)
    except _OtherShapeError as fault:
        raise _none(place, str(fault)) from None


def arguments(saved: SavedRun) -> dict[str, Any]:
    """What `infer` is asked with to ask the same again; the day is named where the data no longer come to it by themselves."""
    request = saved.request
    moved = day_of(book_of(read_data(), request.prices)) != saved.as_of
    return {
        "prices": request.prices, "provider": request.providers, "tier": request.tier, "everything": request.everything,
        "as_of": saved.as_of if request.as_of or moved else None, "anchors": saved.anchors, "changes": saved.changes,
    }  # fmt: skip


def changed_since(saved: SavedRun) -> str:
    """In one line, with what else it is asked now than it was then; nothing where with the same."""
    then, now = saved.made, made_with(read_data())
    assumed = json.loads(json.dumps(assumptions_as_record(assumptions_of(given_anchors(saved.anchors, USUAL), USUAL))))
    tables, assumptions = _different(then.tables, now.tables), _different(saved.assumptions, assumed)
    hashed = [f"{name} (SHA-256 {_start(then.tables.get(name))}, now {_start(now.tables.get(name))})" for name in tables]
    if not tables[1:]:
        hashed = [one.replace(" (", " has changed since (", 1) for one in hashed]
    parts = [
        f"{'changed since are ' if tables[1:] else ''}{_listed(hashed)}" if tables else "",
        *(
            f"made with {name} {then.versions.get(name, 'of no version')}, this is {now.versions.get(name, 'none')}"
            for name in _different(then.versions, now.versions)
        ),
        "made of other draws" if then.seeds != now.seeds else "",
        f"made on another {_listed(assumptions)}" if assumptions else "",
    ]
    return f"{saved.place}: {'; '.join(filter(None, parts))}" if any(parts) else ""


def differing(saved: SavedRun, table: Run) -> list[str]:
    """The places at which a run finds something else than the file says that the saved one found, whatever it was made with."""
    return [*_differing(saved.found, _found(json.loads(as_saved(table, saved.shown))))]


def _differing(then: object, now: object, at: str = "") -> Iterator[str]:
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for name in {**then, **now}:
            yield from _differing(then.get(name, ...), now.get(name, ...), f"{at}.{name}" if at else name)
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for place, (one, other) in enumerate(zip(then, now, strict=True)):
            yield from _differing(one, other, f"{at}[{place}]")
    elif then != now and not (isinstance(then, float) and isinstance(now, float) and isclose(then, now, rel_tol=_LAST_DIGITS)):
        yield at


def _found(document: Mapping[str, Any]) -> dict[str, object]:
    """The sheets, and what else a run found, but for what it was made with."""
    run = {name: value for name, value in document["run"].items() if name not in _MADE_WITH}
    return {**run, "sheets": document.get("sheets")}


def _start(digest: str | None) -> str:
    return digest[:_HASH_SHOWN] if digest else "none"


def _different(then: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    return [name for name in {**now, **then} if name not in then or name not in now or then[name] != now[name]]


def _listed(names: list[str]) -> str:
    *others, last = [*names[:_MOST_LISTED], *([f"{len(names) - _MOST_LISTED} more"] if names[_MOST_LISTED:] else [])]
    return f"{', '.join(others)} and {last}" if others else last


# The file.


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


class _OtherShapeError(Exception):
    """Where a file is not what `--save` writes, and how."""


def _none(place: str, why: str) -> WrongData:
    return WrongData(f"{place}: is no saved result that can be asked again ({why}); infer --save writes one")


def _run_of(place: str, document: Mapping[str, Any]) -> SavedRun:
    run = _at(document, "run", dict)
    asked, assumptions = _at(run, "asked", dict), _at(run, "assumptions", dict)
    as_of = _day(_line(run, "as_of"))
    form = _at(asked, "form", dict)
    return SavedRun(
        place=place,
        request=Request(
            names=_lines(asked, "models"),
            providers=_lines(asked, "providers"),
            tier=_line_or_none(asked, "tier"),
            as_of=as_of if _at(asked, "day_given", bool) else None,
            everything=_at(asked, "all", bool),
            prices=_file_or_none(asked, "prices"),
        ),
        anchors={name: _number(assumptions, name) for name in _lines(assumptions, "given")},
        changes={_plain(name, "changes"): _line(_at(run, "changes", dict), name) for name in _at(run, "changes", dict)},
        shown=Shown(
            style=_line(form, "as"),
            full=_at(form, "full", bool),
            wide=_at(form, "wide", bool),
            summary=_at(form, "summary", bool),
            history=_at(form, "history", bool),
            columns=_line_or_none(form, "columns"),
            by=_line_or_none(asked, "sort"),
            wanted=_lines(asked, "where"),
            against=_day_or_shipped(asked["against"]) if isinstance(asked.get("against"), str) else _file_or_none(asked, "against"),
        ),
        as_of=as_of,
        made=Made(
            versions={_plain(name, "versions"): _line(_at(run, "versions", dict), name) for name in _at(run, "versions", dict)},
            seeds={_plain(name, "seeds"): _at(_at(run, "seeds", dict), name, int) for name in _at(run, "seeds", dict)},
            tables={_plain(name, "tables"): _line_or_none(_at(run, "tables", dict), name) for name in _at(run, "tables", dict)},
        ),
        assumptions={_plain(name, "assumptions"): value for name, value in assumptions.items()},
        found=_found(document),
    )


def _at(record: Mapping[str, Any], name: str, kind: type[_T]) -> _T:
    """What stands under a name, of that type and no other: in Python a truth value is a whole number too."""
    if name not in record:
        raise _OtherShapeError(f"it lacks {name}")
    if type(record[name]) is not kind:
        raise _OtherShapeError(f"{shorten(name)} is of another type")
    found: _T = record[name]
    return found


def _plain(text: str, name: str) -> str:
    if not text.isprintable():
        raise _OtherShapeError(f"{name} holds what does not show")
    return text


def _line(record: Mapping[str, Any], name: str) -> str:
    return _plain(_at(record, name, str), shorten(name))


def _line_or_none(record: Mapping[str, Any], name: str) -> str | None:
    return None if name in record and record[name] is None else _line(record, name)


def _lines(record: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = _at(record, name, list)
    if len(found) > _MOST_ASKED or not all(isinstance(one, str) for one in found):
        raise _OtherShapeError(f"{name} is of another type")
    return tuple(_plain(one, name) for one in found)


def _number(record: Mapping[str, Any], name: str) -> float:
    found = record.get(name)
    if not isinstance(found, int | float) or isinstance(found, bool):
        raise _OtherShapeError(f"{shorten(name)} is of another type")
    try:
        return float(found)
    except OverflowError:
        raise _OtherShapeError(f"{shorten(name)} is too large") from None


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise _OtherShapeError(f"{shorten(text)} is no day") from None


def _day_or_shipped(text: str) -> str:
    """What a result may be held against by name: no file is looked for."""
    return text if text == SHIPPED else _day(text).isoformat()


def _file_or_none(record: Mapping[str, Any], name: str) -> FileText | None:
    """The content of a file that was read; its place is a name and nothing is looked for there."""
    if name in record and record[name] is None:
        return None
    file = _at(record, name, dict)
    place, content, encoding = _line(file, "place"), _at(file, "content", str), _line(file, "encoding")
    if label(place) != place or encoding not in (UTF_8, BASE_64):
        raise _OtherShapeError(f"{name} is no file")
    try:
        return FileText(place, content.encode(UTF_8) if encoding == UTF_8 else b64decode(content, validate=True))
    except (UnicodeEncodeError, NotBase64, ValueError):
        raise _OtherShapeError(f"{name} is no file") from None
