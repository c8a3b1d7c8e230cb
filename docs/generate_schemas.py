"""Write the schemas of `infer` and `prices` in docs/reference/schema from the types of the records and the tables of keys that encode them.

python docs/generate_schemas.py           writes the files
python docs/generate_schemas.py --check   exits 1 if one of them differs from what would be written

docs/schema_notes.json holds what types do not say, by object and key: descriptions, bounds and allowed values. In it, `[]` is an entry
of a list, `{}` a value of a mapping, and the note `=` replaces what the types say.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from datetime import date
from functools import partial
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict

from written import REFERENCE, main

from invert.comparison_records import Comparison, History, News
from invert.encoder import Codec, Keys, Nested, Through, attribute_type
from invert.estimators.lecture import PairInference
from invert.posterior.sampler import Marginal
from invert.records import AlsoSold, RuleScore
from invert.report.changes import CHANGES, CHANGES_SCHEMA, NEWS_SCHEMA
from invert.report.contract import CODEC, FOUND, OF_RUN, SCHEMA, Question
from invert.report.overview import OVERVIEW, OVERVIEW_SCHEMA, Overview
from invert.report.supposed import SUPPOSED, SupposedSheet
from invert.result import Inference, InferenceTable
from invert.sheets.diff import Difference
from invert.sheets.listing import PRICES
from invert.sheets.rows import FileText, PriceRow
from invert.sheets.sheet import PriceBand

NOTES = Path(__file__).with_name("schema_notes.json")
DRAFT = "https://json-schema.org/draft/2020-12/schema"
NAMES = {Inference: "sheet", PairInference: "pair", PriceBand: "band", FileText: "file", RuleScore: "score", Marginal: "contraction"}
"""Objects with another name than their record."""
OTHERS: dict[str, tuple[type, Codec, str]] = {
    "overview": (Overview, OVERVIEW, OVERVIEW_SCHEMA),
    "against": (Comparison, CHANGES, CHANGES_SCHEMA),
    "news": (News, CHANGES, NEWS_SCHEMA),
    "history": (History, CHANGES, ""),
    "supposed": (SupposedSheet, SUPPOSED, ""),
    "prices_list": (PriceRow, PRICES, ""),
    "prices_diff": (Difference, PRICES, ""),
}
"""The record of each output except `infer`, its keys, and the name in its document. Without a name, the document is a list of records."""
SCALARS: dict[Any, dict[str, Any]] = {
    float: {"type": "number"}, int: {"type": "integer"}, str: {"type": "string"}, bool: {"type": "boolean"},
    date: {"type": "string", "format": "date"}, NoneType: {"type": "null"}, Any: {}, object: {},
}  # fmt: skip


class Schema:
    """The objects that records are encoded as, each with its notes."""

    def __init__(self, notes: Mapping[str, Mapping[str, Any]], codec: Codec = CODEC) -> None:
        self.codec = codec
        self.notes = notes
        self.objects: dict[str, Any] = {}
        self.used: set[str] = set()

    def note(self, at: str) -> dict[str, Any]:
        """Return the notes on a place."""
        self.used.add(at)
        return dict(self.notes.get(at, {}))

    def of(self, kind: Any, at: str) -> dict[str, Any]:
        """Return the schema of a type at a place."""
        note = self.note(at)
        if "=" in note:
            self._bare(kind, at)
            return dict(note["="])
        return self._bare(kind, at) | note

    def _bare(self, kind: Any, at: str) -> dict[str, Any]:
        origin, inside = get_origin(kind), get_args(kind)
        if kind in SCALARS:
            return dict(SCALARS[kind])
        if origin in (Union, UnionType):
            return self._one_of([self._bare(one, at) for one in inside])
        if is_typeddict(kind):
            return closed({name: self.of(hint, f"{at}.{name}") for name, hint in get_type_hints(kind).items()})
        if is_dataclass(kind):
            assert isinstance(kind, type)
            return {"$ref": f"#/$defs/{self.record(kind)}"}
        if issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(inside[1], at + "{}")}
        assert issubclass(origin, Sequence), kind
        return {"type": "array", "items": self.of(inside[0], at + "[]")}

    def _one_of(self, found: list[dict[str, Any]]) -> dict[str, Any]:
        """Return one schema for several: a list of types where each has a type alone."""
        if all(set(one) <= {"type", "format"} and "type" in one for one in found):
            return {**found[0], "type": [one["type"] for one in found]}
        return {"oneOf": sorted(found, key=lambda one: one.get("type") != "null")}

    def record(self, kind: type) -> str:
        """Return the name of the object of a record, which is added to the objects."""
        name = NAMES.get(kind) or "".join(f"_{one.lower()}" if one.isupper() else one for one in kind.__name__).strip("_")
        if name not in self.objects:
            self.objects[name] = {}
            fixed = kind in self.codec.leaves
            self.objects[name] = self.note(name) if fixed else self.keys(kind, self.codec.keys_of(kind), name) | self.note(name)
        return name

    def keys(self, kind: type, keys: Keys, at: str, there: str = "") -> dict[str, Any]:
        """Return the object that these keys of a record make; there is something at the path `there`."""
        return closed({key: self._source(kind, source, f"{at}.{key}", there) for key, source in keys.items()})

    def _source(self, kind: type, source: Any, at: str, there: str) -> dict[str, Any]:
        if isinstance(source, Nested):
            found = self.keys(kind, source.keys, at, source.unless_none)
            return ({"oneOf": [{"type": "null"}, found]} if source.unless_none else found) | self.note(at)
        if isinstance(source, Through):
            may_lack = source.path not in ("", there) and NoneType in get_args(self._type_at(kind, source.path, there))
            return self.of(source.kind | None if may_lack else source.kind, at)
        return self.of(self._type_at(kind, source, there), at)

    def _type_at(self, kind: type, path: str, there: str) -> Any:
        """Return the type at a path from a record that has something at the path `there`."""
        if there and path.startswith(f"{there}."):
            (inside,) = (one for one in get_args(type_at(kind, there)) if one is not NoneType)
            return type_at(inside, path.removeprefix(f"{there}."))
        return type_at(kind, path)


def type_at(kind: Any, path: str) -> Any:
    """Return the type at a path from a record. It includes None if a step may be missing."""
    may_lack = False
    for step in path.split("."):
        parts = [one for one in _parts(kind) if one is not NoneType]
        may_lack |= len(parts) < len(_parts(kind))
        (kind,) = parts
        origin = get_origin(kind)
        if origin is tuple:
            inside = get_args(kind)
            kind = inside[0] if Ellipsis in inside else inside[int(step)]
        elif origin is not None and issubclass(origin, Mapping):
            kind, may_lack = get_args(kind)[1], True
        else:
            kind = attribute_type(kind, step)
    return kind | None if may_lack else kind


def _parts(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def closed(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with these keys and no others."""
    return {"type": "object", "additionalProperties": False, "required": list(properties), "properties": dict(properties)}


def schema(notes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the schema of `infer --as json` and `--save`, from the types and these notes."""
    made = Schema(notes)
    of_run = made.keys(InferenceTable, OF_RUN, "of_run") | made.note("of_run")
    made.record(Inference)
    sheet = made.objects["sheet"]
    more = {
        "also_sold": {"type": "array", "items": {"$ref": f"#/$defs/{made.record(AlsoSold)}"}} | made.note("sheet.also_sold"),
        "before": made.of(Mapping[str, Any] | None, "sheet.before"),
        "of_run": {"$ref": "#/$defs/of_run"} | made.note("sheet.of_run"),
    }
    sheet |= closed({**sheet["properties"], **more})
    question = made.keys(Question, CODEC.keys_of(Question), "run")
    found = made.keys(InferenceTable, {key: source for key, source in FOUND.items() if key not in OF_RUN}, "run")
    run = closed({**question["properties"], **found["properties"], **of_run["properties"]}) | made.note("run")
    sheets = {"type": "array", "description": "One object a sheet.", "items": {"$ref": "#/$defs/sheet"}}
    saved = closed({
        "schema": {"const": SCHEMA, "description": "Name and version of this form."},
        "run": {"$ref": "#/$defs/run"}, "sheets": {"$ref": "#/$defs/sheets"},
    }) | {"description": "A saved run."}  # fmt: skip
    objects = {"sheets": sheets, "saved": saved, "run": run, "of_run": of_run, **made.objects, **notes.get("$defs", {})}
    _refuse_unknown(notes, made.used)
    return {
        "$schema": DRAFT,
        **notes.get("$", {}),
        "oneOf": [{"$ref": "#/$defs/sheets"}, {"$ref": "#/$defs/saved"}],
        "$defs": objects,
    }


def schema_of(output: str, notes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the schema of another output, from the types of its records and these notes."""
    record, codec, named = OTHERS[output]
    made = Schema(notes, codec)
    name = made.record(record)
    found: dict[str, Any] = {"type": "array", "items": {"$ref": f"#/$defs/{name}"}}
    if named:
        found = made.objects.pop(name)
        found = closed({"schema": {"const": named}, **found["properties"]})
    _refuse_unknown(notes, made.used)
    return {"$schema": DRAFT, **notes.get("$", {}), **found, "$defs": {**made.objects, **notes.get("$defs", {})}}


def _refuse_unknown(notes: Mapping[str, Any], used: set[str]) -> None:
    if unknown := set(notes) - used - {"$", "$defs"}:
        raise ValueError(f"{NOTES.name}: no such place is in the schema: {', '.join(sorted(unknown))}")


def page(of: str = "infer") -> str:
    """Return the text of a file."""
    notes = json.loads(NOTES.read_text(encoding="utf-8"))[of]
    return json.dumps(schema(notes) if of == "infer" else schema_of(of, notes), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    files = {of: REFERENCE / "schema" / f"{of}.schema.json" for of in ("infer", *OTHERS)}
    sys.exit(max(main("generate_schemas.py", file, partial(page, of), sys.argv[1:]) for of, file in files.items()))
