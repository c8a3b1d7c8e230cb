"""The glossary has one meaning for each word, and `explain` finds every word and every column."""

import pytest

from derive.glossary import TERMS
from invert.report.columns import SHORT_KEYS, column_of
from tests.tools.commands import call

NAMES = [name for names in TERMS for name in names.split(", ")]


def test_a_word_has_one_meaning_and_is_a_sentence():
    assert len({name.lower() for name in NAMES}) == len(NAMES)
    assert [meaning for meaning in TERMS.values() if not meaning.endswith(".")] == []


@pytest.mark.parametrize("words", [("right", "before"), ("Coverage",), ("pareto-k",)])
def test_a_word_is_explained_in_any_case(words):
    assert ": " in call("explain", *words).out


@pytest.mark.parametrize("key", SHORT_KEYS)
def test_every_column_of_the_short_table_is_explained(key):
    assert column_of(key).about and call("explain", *column_of(key).heading.split()).status == 0


def test_explain_shows_quantities_and_names_what_is_near_an_unknown_word():
    assert "[byte/token]" in call("explain", "kv_bytes_per_token").out
    assert call("explain", "roofline.step_time").out == call("show", "roofline.step_time").out
    assert "could mean output_price or input_price" in call("explain", "price_per_mtok").err
    assert "did you mean 'batch'" in call("explain", "batc").err and "xyzzy" in call("explain", "xyzzy").err
