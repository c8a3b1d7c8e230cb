"""Record how a result was made: versions, seeds, and hashes of the tables."""

from collections.abc import Mapping
from hashlib import sha256
from platform import python_version

import numpy
import scipy

from derive.immutable import immutable
from derive.version import VERSION
from invert.data import Data, cache_with_data
from invert.posterior.draws import SEED


@immutable
class Made:
    """Versions of the programs, seeds by sampler, and SHA-256 by table (None for a table that cannot be read)."""

    versions: Mapping[str, str]
    seeds: Mapping[str, int]
    tables: Mapping[str, str | None]


@cache_with_data
def made_with(data: Data) -> Made:
    """Return the provenance of a run on these tables."""
    hashes = {name: sha256(found).hexdigest() if isinstance(found, bytes) else None for name, found in data.tables.files.items()}
    versions = {"backsolve": VERSION, "numpy": numpy.__version__, "scipy": scipy.__version__, "python": python_version()}
    return Made(versions=versions, seeds={"draws": SEED}, tables=hashes)
