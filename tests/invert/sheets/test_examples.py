"""Small functions of `invert.sheets` on examples."""

from invert.sheets.assemble import drawn_like, is_pattern, is_provider, sheets
from invert.sheets.diff import is_whole
from invert.sheets.models import asks_no_more, common_spelling
from invert.sheets.read import load, own_file, own_place
from invert.sheets.rows import OWN_COLUMNS, PRICE_COLUMNS, is_typed_sheet, problem_at
from invert.sheets.sheet import bands_the_wrong_way_round, is_added, name_price, typed_place, with_amounts, without_places


def test_is_provider():
    assert is_provider("openai", "OpenAI")
    assert is_provider("openai", "open*")
    assert not is_provider("openai", "open")


def test_is_pattern():
    assert is_pattern("gpt-6*")
    assert not is_pattern("gpt-6")


def test_drawn_like():
    assert drawn_like("gpt‑5", [("openai", "gpt-5"), ("openai", "gpt-5-mini")], {}) == [(("openai", "gpt-5"), "gpt-5")]


def test_is_whole():
    assert is_whole(",".join(PRICE_COLUMNS).encode())
    assert not is_whole(",".join(OWN_COLUMNS).encode())


def test_is_typed_sheet():
    assert is_typed_sheet("2/12; cache .2")
    assert is_typed_sheet("EUR 2/12 >200k")
    assert all(map(is_typed_sheet, ("2;12", "€2/12", "2/12/3", "input 2; output 12")))
    assert not is_typed_sheet("2026/prices.csv")
    assert not any(map(is_typed_sheet, ("mine.csv", "./mine", "../2026/mine;new.csv")))


def test_common_spelling():
    assert common_spelling("Claude-Opus-4.5") == "claude-opus-4-5"


def test_asks_no_more():
    assert asks_no_more({("cache_write", 0, None): 3.75}, {("input", 0, None): 3.0, ("cache_write", 0, 300): 3.75})
    assert not asks_no_more({("cache_write", 0, 3600): 3.75}, {("cache_write", 0, 300): 3.75})


def test_typed_place():
    assert typed_place("cache_write@200k:5min") == ("cache_write", 200000, 300)
    assert typed_place("input@0.2M") == ("input", 200000, None)


def test_name_price():
    assert name_price("acme/perm", {"component": "input", "threshold_tokens": "200000"}) == "'acme/perm' input@200k"


def test_own_file():
    assert own_file(["provider,model,component,amount", "acme,m,input,2"]).content == b"provider,model,component,amount\nacme,m,input,2\n"


def test_own_place():
    assert own_place("prices.csv") == "./prices.csv"
    assert own_place("mine.csv") == "mine.csv"


def test_problem_at():
    assert str(problem_at("my.csv:3", "amount", "is negative")) == "my.csv row 3, column amount: is negative"
    assert str(problem_at("'acme/m' input", "amount", "is negative")) == "'acme/m' input: is negative"


def test_without_places():
    sheet = next(one for one in sheets(load()) if one.model == "gemini-2.5-pro")
    assert (
        without_places(sheet, [("input", 200000, None), ("output", 200000, None), ("cache_read", 200000, None)]).base_prices
        == "1.25 in, 10 out USD/MTok"
    )


def test_is_added():
    sheet = next(one for one in sheets(load()) if one.model == "gemini-2.5-pro")
    changed = with_amounts(sheet, {"input": "2", "input@400k": "4"})
    assert not is_added("input", changed)
    assert is_added("input@400k", changed)


def test_bands_the_wrong_way_round():
    sheet = next(one for one in sheets(load()) if one.model == "gemini-2.5-pro")
    assert bands_the_wrong_way_round(sheet) == []
    assert bands_the_wrong_way_round(with_amounts(sheet, {"output": "20"})) == ["output@200k 15 is below output 20"]
