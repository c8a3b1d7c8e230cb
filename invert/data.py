"""The data of a run: the tables, which are read once, the results computed from them, and what a result was made with."""

import zlib
from collections.abc import Callable, Hashable, Mapping
from dataclasses import field
from functools import lru_cache, partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from derive import VERSION
from derive.immutable import immutable
from derive.tables import shipped
from derive.tables.shipped import Tables

_P = ParamSpec("_P")
_R = TypeVar("_R")

_MOST = 4096
"""Maximum number of cached results for the same tables, so that a process with many different assumptions does not grow."""


@immutable(eq=False, kw_only=False)
class Data:
    """All tables as read at one time, and the results of functions with `cache_with_data`."""

    tables: Tables
    known: dict[Any, Any] = field(default_factory=dict, repr=False)

    def once(self, asked: Hashable, work: Callable[[], _R]) -> _R:
        """Return the cached result of `work` for this key. Call `work` only the first time."""
        try:
            # Looked up once: to hash all that is asked takes longer than most of what is asked.
            found: _R = self.known[asked]
        except KeyError:
            pass
        else:
            return found
        # Outside of the handler: an error of `work` must not show this KeyError, which has all that was asked.
        return self.keep(asked, work())

    def keep(self, asked: Hashable, found: _R) -> _R:
        """Cache a result for this key. Return the first one that was cached."""
        if len(self.known) >= _MOST:
            self.known.pop(next(iter(self.known)), None)
        # setdefault and not an assignment: two threads must share one.
        kept: _R = self.known.setdefault(asked, found)
        return kept

    def __reduce__(self) -> tuple[Callable[..., "Data"], tuple[Any, ...]]:
        """Send only the compressed files to another process, which computes the rest once."""
        packed = ((name, zlib.compress(held, 1) if isinstance(held, bytes) else held) for name, held in self.tables.files.items())
        return _unpacked, (tuple(packed),)

    def __dask_tokenize__(self) -> tuple[tuple[str, bytes | str], ...]:
        """Return the files. Dask makes the name of the data from them. Dask does not accept the functions in the cache."""
        return tuple(self.tables.files.items())


def read_data() -> Data:
    """Return the current tables, with the cache of an earlier run if no byte differs."""
    return _cache_of(shipped.read())


@lru_cache(2)
def _unpacked(packed: tuple[tuple[str, bytes | str], ...]) -> Data:
    return Data(Tables({name: zlib.decompress(held) if isinstance(held, bytes) else held for name, held in packed}))


_cache_of = lru_cache(2)(Data)


def cache_with_data(function: Callable[Concatenate[Data, _P], _R]) -> Callable[Concatenate[Data, _P], _R]:
    """Cache the results of a function with the data, by its arguments."""

    @wraps(function)
    def within(data: Data, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return data.once((function, args, tuple(kwargs.items())), partial(function, data, *args, **kwargs))

    return within


@immutable
class Made:
    """Versions of the programs, seeds by sampler, and SHA-256 by table (None for a table that cannot be read)."""

    versions: Mapping[str, str]
    seeds: Mapping[str, int]
    tables: Mapping[str, str | None]


@cache_with_data
def made_with(data: Data) -> Made:
    """Return the provenance of a run on these tables."""
    # Reading the tables needs none of these.
    from hashlib import sha256
    from platform import python_version

    import numpy
    import scipy

    from invert.posterior.draws import SEED

    hashes = {name: sha256(found).hexdigest() if isinstance(found, bytes) else None for name, found in data.tables.files.items()}
    versions = {"backsolve": VERSION, "numpy": numpy.__version__, "scipy": scipy.__version__, "python": python_version()}
    return Made(versions=versions, seeds={"draws": SEED}, tables=hashes)
