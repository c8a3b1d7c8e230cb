"""Encode records as JSON and decode them, by the types of their fields and one table of keys.

The keys of a record are its fields, unless `Codec.keys` lists other keys for its type. A key is filled by

- a path from the record, as "sheet.bands.0.input" (None if a step is None, or a mapping lacks the name),
- a function of the record, or of the value at a path, with the type of its result, `Through` (None if the value is None),
- or a nested object, `Nested`, which is None if the value at its path is None.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, is_dataclass
from datetime import date
from functools import cache, reduce
from math import isfinite
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from derive.errors import shorten
from derive.immutable import immutable
from invert.estimate_text import round_digits

_T = TypeVar("_T")

_NAMES = {str: "a text", bool: "true or false", int: "a whole number", float: "a number", NoneType: "null"}


class Nested(NamedTuple):
    """An object inside the object of its record, or None if the value at the path `unless_none` is None."""

    keys: "Keys"
    unless_none: str = ""
    rounded: bool = False


class Through(NamedTuple):
    """A function of the value at a path from the record ("" is the record), or None if that value is None. `kind` is its type."""

    path: str
    function: Callable[[Any], Any]
    kind: Any = Any


Source = str | Through | Nested
"""The source of the value of a key."""
Keys = Mapping[str, Source]


class Leaf(NamedTuple):
    """The functions that write a type without a JSON form as JSON and read it again (ValueError for invalid content)."""

    json_type: type
    write: Callable[[Any], object]
    read: Callable[[Any], object]


class WrongShape(ValueError):
    """Error that names a place in a document, its value and the allowed values."""


@immutable(kw_only=False)
class Codec:
    """The keys of records that differ from their fields, the leaves, and the types whose numbers have six digits."""

    keys: Mapping[type, Keys] = field(default_factory=dict)
    leaves: Mapping[type, Leaf] = field(default_factory=lambda: {date: Leaf(str, date.isoformat, date.fromisoformat)})
    rounded: frozenset[type] = frozenset()

    def keys_of(self, kind: type) -> Keys:
        """Return the keys of a type of record from the table, by default its fields."""
        return next((self.keys[one] for one in kind.__mro__ if one in self.keys), None) or names_of(kind)

    def encode(self, value: object, rounded: bool = False) -> Any:
        """Return a value as JSON has it. A number that is not finite is None."""
        kind = type(value)
        if kind in (str, NoneType, bool, int):
            return value
        if isinstance(value, float):
            return None if not isfinite(value) else round_digits(value) if rounded else value
        if kind in self.leaves:
            return self.leaves[kind].write(value)
        if isinstance(value, Mapping):
            return {name: self.encode(one, rounded) for name, one in value.items()}
        if isinstance(value, Sequence):
            return [self.encode(one, rounded) for one in value]
        return self.encode_keys(value, self.keys_of(kind), kind in self.rounded)

    def text(self, found: object, schema: str = "") -> str:
        """Return strict JSON of a record, with the name of its schema if it has one, or of a list."""
        document = self.encode(found)
        return json.dumps({"schema": schema, **document} if schema else document, indent=2, allow_nan=False)

    def encode_keys(self, record: object, keys: Keys, rounded: bool = False) -> dict[str, Any]:
        """Return these keys of a record as an object."""
        return {key: self._encode_source(record, source, rounded) for key, source in keys.items()}

    def _encode_source(self, record: object, source: Source, rounded: bool) -> Any:
        if isinstance(source, Nested):
            absent = source.unless_none and value_at(record, source.unless_none) is None
            return None if absent else self.encode_keys(record, source.keys, rounded or source.rounded)
        if isinstance(source, Through):
            inside = value_at(record, source.path) if source.path else record
            return None if inside is None else self.encode(source.function(inside), rounded)
        return self.encode(value_at(record, source), rounded)

    def decode(self, kind: Any, found: object, at: str = "") -> Any:
        """Return the value of a type that encodes to this. Raises `WrongShape` for any other document, with the place and the allowed
        values.
        """
        if kind is Any:
            return found
        if leaf := self.leaves.get(kind):
            written = _checked(leaf.json_type, found, at)
            try:
                return leaf.read(written)
            except ValueError as why:
                raise WrongShape(f"{at} is {_brief(found)}, {why}") from None
        origin, inside = get_origin(kind), get_args(kind)
        if origin in (Union, UnionType):
            return self._one_of(inside, found, at)
        if origin is tuple:
            return tuple(self.decode(inside[0], one, f"{at}[{place}]") for place, one in enumerate(_checked(list, found, at)))
        if origin is not None and issubclass(origin, Mapping):
            return {
                _checked_text(name, at): self.decode(inside[1], one, _inside(at, name)) for name, one in _checked(dict, found, at).items()
            }
        if is_dataclass(kind) and isinstance(kind, type):
            return _build(kind, self._values(kind, self.keys_of(kind), _checked(dict, found, at), at))
        return _checked_text(_checked(str, found, at), at) if kind is str else _checked(kind, found, at)

    def _one_of(self, kinds: Sequence[Any], found: object, at: str) -> Any:
        """Decode a value as the one of these types that has its JSON form."""
        taken = {one: self.leaves[one].json_type if one in self.leaves else dict if is_dataclass(one) else one for one in kinds}
        for kind, json_type in taken.items():
            if _is(json_type, found):
                return None if kind is NoneType else self.decode(kind, found, at)
        allowed = " or ".join(map(_json_name, taken.values()))
        raise WrongShape(f"{at} is {_brief(found)}, but must be {allowed}")

    def _values(self, kind: type, keys: Keys, found: Mapping[str, object], at: str) -> dict[str, Any]:
        """Return the values of stored fields by path."""
        values: dict[str, Any] = {}
        for key, source in keys.items():
            if key not in found:
                raise WrongShape(f"it lacks {_inside(at, key)}")
            if isinstance(source, Nested):
                values |= self._values(kind, source.keys, _checked(dict, found[key], _inside(at, key)), _inside(at, key))
            elif isinstance(source, str):
                values[source] = self.decode(reduce(attribute_type, source.split("."), kind), found[key], _inside(at, key))
        return values


@cache
def names_of(kind: type) -> dict[str, str]:
    """Return the fields of a record by name."""
    return {one.name: one.name for one in fields(kind)}


def value_at(record: Any, path: str) -> Any:
    """Return the value at a path from a record, or None if a step is None."""
    for step in path.split("."):
        if record is None:
            return None
        record = getattr(record, step) if is_dataclass(record) else record[int(step)] if step.isdecimal() else record.get(step)
    return record


def attribute_type(kind: Any, name: str) -> Any:
    """Return the type of a field or of a property."""
    if name in (hints := _types_of_fields(kind)):
        return hints[name]
    found = getattr(kind, name)
    return get_type_hints(getattr(found, "fget", None) or found.func)["return"]


_types_of_fields = cache(get_type_hints)


def _build(kind: type, values: Mapping[str, Any]) -> Any:
    """Return the record with these values. Their names are paths through nested records."""
    inside: dict[str, dict[str, Any]] = {}
    arguments: dict[str, Any] = {}
    for path, value in values.items():
        name, _, rest = path.partition(".")
        if rest:
            inside.setdefault(name, {})[rest] = value
        else:
            arguments[name] = value
    return kind(**arguments, **{name: _build(attribute_type(kind, name), parts) for name, parts in inside.items()})


def _is(kind: type, found: object) -> bool:
    """Return whether JSON has a value of this type: a truth value is not a number, a whole number is one."""
    return type(found) is kind or (kind is float and type(found) is int)


def _checked(kind: type[_T], found: object, at: str) -> Any:
    if not _is(kind, found):
        raise WrongShape(f"{at} is {_brief(found)}, but must be {_json_name(kind)}")
    try:
        return float(found) if kind is float else found  # type: ignore[arg-type]
    except OverflowError:
        raise WrongShape(f"{at} is too large") from None


def _json_name(kind: type) -> str:
    return _NAMES.get(kind, "a list" if kind is list else "an object")


def _brief(found: object) -> str:
    if isinstance(found, list | dict):
        return _json_name(type(found))
    return shorten(found) if isinstance(found, str) else shorten(json.dumps(found)).strip("'")


def _checked_text(text: str, at: str) -> str:
    if not text.isprintable():
        raise WrongShape(f"{at} has characters that do not print")
    return text


def _inside(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name if name.isprintable() else shorten(name)
