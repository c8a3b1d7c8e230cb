"""The one kind of record in this package: a dataclass that cannot be changed. Its definition compiles no code.

`dataclasses` writes six functions for every class and compiles them at each start. This needs 100 ms for 57 classes, and 3 ms here. The
functions below serve every class. `fields`, `replace` and `asdict` of `dataclasses` work as usual.

Two thousand rows of the catalogue and of the quantities are made at each start. They are declared in the code, where mypy and a test check
their arguments. They are not checked again at the start: a `declared` row needs 1.3 µs, against 5 to 12 µs.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from functools import cached_property
from operator import attrgetter
from types import FunctionType, SimpleNamespace
from typing import Any, NoReturn, TypeVar, dataclass_transform, overload

from derive.briefly import brief

_Class = TypeVar("_Class", bound=type)


@overload
@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field, Field))
def immutable(cls: _Class, /) -> _Class: ...
@overload
@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field, Field))
def immutable(*, eq: bool = True, kw_only: bool = True, declared: bool = False) -> Callable[[_Class], _Class]: ...
def immutable(cls: Any = None, /, *, eq: bool = True, kw_only: bool = True, declared: bool = False) -> Any:
    """Make a class a record: with arguments by name, equality by value unless `eq` is false, and text in one line.

    `declared` records are written in the code. Their arguments have names and are not checked.

    >>> @immutable
    ... class Point:
    ...     x: float
    ...     y: float = 0.0
    >>> Point(x=1.0), Point(x=1.0) == Point(x=1.0, y=0.0), Point(x=1.0) == Point(x=2.0)
    (Point(x=1.0, y=0.0), True, False)
    """
    if cls is None:
        return lambda made: immutable(made, eq=eq, kw_only=kw_only, declared=declared)  # type: ignore[call-overload]
    cls = dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
    cls.__setattr__ = cls.__delattr__ = _refuse_change
    if cls.__repr__ is object.__repr__:
        cls.__repr__ = brief
    cls.__eq__, cls.__hash__ = _comparison(cls) if eq else (object.__eq__, object.__hash__)
    if declared:
        return _with_plain_init(cls)
    cls.__init__ = _initialiser(cls)
    return cls


def _initialiser(cls: type) -> Callable[..., None]:
    """Return the `__init__` of a record, which fills in defaults and refuses arguments that are missing or unknown."""
    known = fields(cls)
    names, by_place = frozenset(one.name for one in known), tuple(one.name for one in known if not one.kw_only)
    factories = [(one.name, one.default_factory) for one in known if one.default_factory is not MISSING]
    # The class has the other defaults. Functions are excepted, because they would become its methods.
    functions = {one.name: one.default for one in known if isinstance(one.default, FunctionType)}
    needed = names - {one.name for one in known if one.default is not MISSING} - {name for name, _ in factories}
    after = getattr(cls, "__post_init__", None)

    def initialise(self: Any, /, *values: Any, **given: Any) -> None:
        if values:
            given = _with_places(cls, by_place, values, given)
        if not needed <= given.keys() <= names:
            raise TypeError(_wrong_arguments(cls, needed, names, given.keys()))
        self.__dict__.update(functions, **given)
        for name, make in factories:
            if name not in given:
                self.__dict__[name] = make()
        if after:
            after(self)

    return initialise


def _with_plain_init(cls: type) -> type:
    """Return a class with the `__init__` of SimpleNamespace: a record stores its arguments, and the class has the defaults."""
    for one in fields(cls):
        if one.default_factory is not MISSING:
            setattr(cls, one.name, default := cached_property(_default_maker(one.default_factory)))
            default.__set_name__(cls, one.name)
    return type(cls.__name__, (cls, SimpleNamespace), {name: getattr(cls, name) for name in ("__module__", "__qualname__", "__doc__")})


def _default_maker(make: Callable[[], Any]) -> Callable[[Any], Any]:
    return lambda record: make()


def _with_places(cls: type, names: tuple[str, ...], values: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
    """Return all arguments by name, including positional ones."""
    placed = dict(zip(names, values, strict=False))
    if len(values) > len(names) or not placed.keys().isdisjoint(given):
        raise TypeError(f"{cls.__name__} has {len(names)} arguments by place, each given once. {len(values)} were given")
    return placed | given


def _wrong_arguments(cls: type, needed: frozenset[str], names: frozenset[str], given: Any) -> str:
    """Return the message on arguments that are missing or unknown."""
    missing, unknown = sorted(needed - given), sorted(given - names)
    parts = [f"{told} {', '.join(found)}" for told, found in (("missing", missing), ("unknown", unknown)) if found]
    return f"{cls.__name__}: arguments {'; '.join(parts)}"


def _comparison(cls: type) -> tuple[Callable[[Any, Any], Any], Callable[[Any], int]]:
    """Return `__eq__` and `__hash__` of a record by the values of its fields."""
    compared = [one.name for one in fields(cls) if one.compare]
    values = attrgetter(*compared) if compared else lambda one: ()

    def equal(self: Any, other: Any) -> Any:
        return values(self) == values(other) if self.__class__ is other.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(values(self))

    return equal, hashed


def _refuse_change(self: Any, name: str, *value: Any) -> NoReturn:
    raise FrozenInstanceError(f"cannot change field {name!r}")
