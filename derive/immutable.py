"""The one kind of record in this package: a dataclass that cannot be changed. Its definition compiles no code, and it prints in one line.

`dataclasses` writes six functions for every class and compiles them at each start. This needs 100 ms for 57 classes, and 3 ms here. The
functions below serve every class. `fields`, `replace` and `asdict` of `dataclasses` work as usual.

All rows of the catalogue and of the quantities are made at each start. They have the base `Bare`, which stores arguments
without a look at their names. Mypy and the tests check these.
"""

import reprlib
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from functools import cached_property
from operator import attrgetter
from types import FunctionType, SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, dataclass_transform, overload

if TYPE_CHECKING:
    Bare = object
else:
    Bare = SimpleNamespace

_LINE, _FEW = 100, 3
"""Most characters of a record, and most members of a collection that are shown."""
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 40
_SHORT.maxtuple = _SHORT.maxlist = _SHORT.maxdict = _SHORT.maxset = _SHORT.maxfrozenset = _FEW
_Class = TypeVar("_Class", bound=type)


@overload
@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field, Field))
def immutable(cls: _Class, /) -> _Class: ...
@overload
@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field, Field))
def immutable(*, eq: bool = True, kw_only: bool = True) -> Callable[[_Class], _Class]: ...
def immutable(cls: Any = None, /, *, eq: bool = True, kw_only: bool = True) -> Any:
    """Make a class a record: with arguments by name, equality by value unless `eq` is false or the class has its own, text in one line.

    >>> @immutable
    ... class Point:
    ...     x: float
    ...     y: float = 0.0
    >>> Point(x=1.0), Point(x=1.0) == Point(x=1.0, y=0.0), Point(x=1.0) == Point(x=2.0)
    (Point(x=1.0, y=0.0), True, False)
    """
    if cls is None:
        return lambda made: immutable(made, eq=eq, kw_only=kw_only)  # type: ignore[call-overload]
    cls = dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
    _set_defaults(cls)
    if not issubclass(cls, SimpleNamespace):
        cls.__init__ = _initialiser(cls)
    cls.__setattr__ = cls.__delattr__ = refuse_change
    if cls.__repr__ in (object.__repr__, SimpleNamespace.__repr__):
        cls.__repr__ = brief
    if "__eq__" not in vars(cls):
        cls.__eq__, cls.__hash__ = _comparison(cls) if eq else (object.__eq__, object.__hash__)
    return cls


def _set_defaults(cls: Any) -> None:
    """Store in a class the defaults that would not be attributes of a record: those that are made for each record, and functions."""
    for one in fields(cls):
        if one.default_factory is not MISSING:
            setattr(cls, one.name, default := cached_property(lambda _, make=one.default_factory: make()))  # type: ignore[misc]
            default.__set_name__(cls, one.name)
        elif isinstance(one.default, FunctionType):
            # A plain function would become a method.
            setattr(cls, one.name, staticmethod(one.default))


def _initialiser(cls: Any) -> Callable[..., None]:
    """Return the `__init__` of a record, which checks and stores its arguments."""
    known, after = [one for one in fields(cls) if one.init], getattr(cls, "__post_init__", None)
    names = tuple(one.name for one in known if not one.kw_only)
    every = frozenset(one.name for one in known)
    needed = frozenset(one.name for one in known if one.default is MISSING and one.default_factory is MISSING)

    def store(self: Any, /, *values: Any, **given: Any) -> None:
        if values:
            if len(values) > len(names):
                raise TypeError(f"{cls.__name__}: at most {len(names)} arguments by place, not {len(values)}")
            given.update(zip(names, values, strict=False))
        if not needed <= given.keys() <= every:
            wrong = ", ".join(sorted((needed - given.keys()) | (given.keys() - every)))
            raise TypeError(f"{cls.__name__}: arguments that are missing or unknown: {wrong}")
        self.__dict__.update(given)
        if after:
            after(self)

    return store


def _comparison(cls: type) -> tuple[Callable[[Any, Any], Any], Callable[[Any], int]]:
    """Return `__eq__` and `__hash__` of a record by the values of its fields."""
    compared = [one.name for one in fields(cls) if one.compare]
    values = attrgetter(*compared) if compared else lambda one: ()

    def equal(self: Any, other: Any) -> Any:
        return values(self) == values(other) if self.__class__ is other.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(values(self))

    return equal, hashed


def refuse_change(self: Any, name: str, *value: Any) -> NoReturn:
    """Raise the error of a record that is changed."""
    raise FrozenInstanceError(f"cannot change field {name!r}")


def brief(record: Any) -> str:
    """Return a dataclass in one line of at most 100 characters: its first fields, with long values shortened.

    >>> from derive.records import Source
    >>> Source(kind="talk", title="On caches", author="Ada Lovelace", url="", said="long to tell")
    Source(kind='talk', title='On caches', author='Ada Lovelace', url='', said='long to tell', start=...
    """
    parts = (f"{field.name}={_SHORT.repr(getattr(record, field.name))}" for field in fields(record) if field.repr)
    return cut(f"{type(record).__name__}({', '.join(parts)})")


def cut(text: str) -> str:
    """Return a text in one line of at most 100 characters."""
    line = " ".join(text.split())
    return line if len(line) <= _LINE else line[: _LINE - 3] + "..."


class Records(tuple[Any, ...]):
    """A tuple that prints its first members, one per line, and the number of all.

    >>> Records("abcde")
    (5 in all:
     'a',
     'b',
     'c',
     ...)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        if len(self) <= _FEW:
            return super().__repr__()
        return "\n ".join([f"({len(self)} in all:", *(f"{one!r}," for one in self[:_FEW]), "...)"])
