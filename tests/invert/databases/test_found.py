"""Which databases are there, and what is said of those that are not or cannot be read."""

import json
from types import SimpleNamespace

import pytest

from derive.errors import WrongData
from invert.databases import genai, litellm
from invert.databases.found import listing_of, listings
from tests.tools.databases import LITELLM, MODELS_DEV, OPENROUTER, installed


@pytest.mark.parametrize(("content", "name"), [(LITELLM, "litellm"), (MODELS_DEV, "models.dev"), (OPENROUTER, "openrouter")])
def test_a_file_is_known_by_its_shape_and_not_by_its_name(tmp_path, content, name: str):
    place = tmp_path / "download (1).txt"
    place.write_text(json.dumps(content))
    database, items = listing_of(str(place))
    assert database.name == name and len(list(items)) > 2


@pytest.mark.parametrize("content", [{}, [], 3, {"data": []}, {"models": {"m": {"price": 3}}}, {"a": {"models": []}}])
def test_any_other_file_is_refused_in_a_line(tmp_path, content):
    place = tmp_path / "x.json"
    place.write_text(json.dumps(content))
    with pytest.raises(WrongData, match=r"x\.json: is not a known database \(openrouter, models\.dev, litellm\), or has a newer format"):
        listing_of(str(place))


def test_one_that_fails_does_not_stop_the_others(tmp_path, monkeypatch):
    installed(tmp_path, monkeypatch, "genai_prices")
    monkeypatch.setattr(litellm, "find_spec", lambda _: None)
    found, problems = listings(["genai-prices", "litellm", str(tmp_path / "none.json")])
    assert [str(database) for database, _ in found] == ["genai-prices 9.9"]
    assert [str(one).removeprefix(str(tmp_path)) for one in problems] == [
        "litellm: is not installed: pip install litellm",
        "/none.json: cannot be read: No such file or directory",
    ]
    (tmp_path / "litellm").mkdir()
    monkeypatch.setattr(litellm, "find_spec", lambda _: SimpleNamespace(origin=str(tmp_path / "litellm" / "__init__.py")))
    (problem,) = listings(["litellm"])[1]
    assert "litellm" in problem.origin and problem.message.startswith("has no file model_prices")


def test_without_a_name_every_package_that_is_installed(tmp_path, monkeypatch):
    installed(tmp_path, monkeypatch, "genai_prices", "litellm")
    assert [str(database) for database, _ in listings([])[0]] == ["genai-prices 9.9", "litellm 9.9"]
    monkeypatch.setattr(genai, "find_spec", lambda _: None)
    monkeypatch.setattr(litellm, "find_spec", lambda _: None)
    assert listings([]) == ([], []) and listing_of("genai-prices") is None
    assert "pip install backsolve[prices]" in str(listings(["genai-prices"])[1][0])
