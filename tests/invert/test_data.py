"""The data of a run: read once, passed down, and what was worked out from it kept as long."""

from dataclasses import replace
from hashlib import sha256
from importlib import metadata
from pathlib import Path

import pytest

from derive import VERSION
from derive.tables import shipped
from invert.data import Data, cache_with_data, made_with, read_data
from invert.inference import infer
from invert.posterior.draws import SEED
from invert.sheets.rows import FxRate
from tests.tools.tables import reading


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[shipped.Tables]:
    """All tables that were read since."""
    found, read = [], shipped.read

    def counted() -> shipped.Tables:
        found.append(read())
        return found[-1]

    monkeypatch.setattr(shipped, "read", counted)
    return found


@pytest.mark.parametrize("asked", [{}, {"everything": True, "anchors": {"overlap": 1.0}}], ids=["usual", "every tier, an anchor"])
def test_an_inference_reads_the_tables_once(asked: dict, reads: list[shipped.Tables]):
    infer(["gemini-3.1-pro", "kimi-k3", "claude-opus-5", "deepseek-v4-pro"], **asked)
    assert len(reads) == 1


def test_runs_share_what_was_worked_out_of_the_same_bytes_and_of_no_others():
    calls = []

    @cache_with_data
    def rates(data: Data, currency: str, *, least: float = 0.0) -> list[float]:
        calls.append((currency, least))
        return [row.units_per_usd for row in data.tables.rows_of(FxRate) if row.currency == currency and row.units_per_usd > least]

    one, other = read_data(), Data(read_data().tables)
    assert read_data() is one
    assert rates(one, "CNY") is rates(one, "CNY") and calls == [("CNY", 0.0)]
    assert rates(other, "CNY") == rates(one, "CNY") and len(calls) == 2
    assert rates(one, "CNY", least=100) == [] and rates(one, "EUR") != rates(one, "CNY") and len(calls) == 4
    assert one != other and one.tables is other.tables
    with reading(shipped.read().edited(fx=shipped.read().content("fx.csv").decode().replace("CNY", "EUR"))):
        assert rates(read_data(), "CNY") == []
    assert read_data() is one


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
    assert made_with(Data(shipped.Tables({**tables.files, "fx.csv": "Permission denied"}))).tables["fx.csv"] is None
