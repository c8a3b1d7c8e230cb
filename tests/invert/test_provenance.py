"""What a result was made with."""

from dataclasses import replace
from hashlib import sha256
from importlib import metadata
from pathlib import Path

from derive.tables import shipped
from derive.version import VERSION
from invert.data import Data, read_data
from invert.posterior.draws import SEED
from invert.provenance import made_with


def test_tables_are_known_by_what_is_in_them():
    tables = shipped.read()
    found = made_with(read_data())
    assert found.versions["backsolve"] == VERSION
    assert all(found.versions[name] == metadata.version(name) for name in ("numpy", "scipy"))
    assert set(found.tables) == set(shipped.read().files) and found.seeds == {"draws": SEED}
    assert found.tables["fx.csv"] == sha256(Path(shipped.FOLDER, "fx.csv").read_bytes()).hexdigest()
    other = made_with(Data(tables.edited(fx=tables.content("fx.csv").decode() + "\n")))
    assert {name for name in found.tables if found.tables[name] != other.tables[name]} == {"fx.csv"}
    assert replace(other, tables=found.tables) == found
    assert made_with(Data(tables.of({**tables.files, "fx.csv": "Permission denied"}))).tables["fx.csv"] is None
