"""Characters that do not show are found and named; names that look alike are one name."""

import sys
import unicodedata
from itertools import chain

from derive.characters import SPACES, hidden, is_hidden, look_alike, mark_in_words, padded, skeleton, trimmed, width_of
from tests.tools.together import in_one_test


@in_one_test("mark", ["\x1b", "\x85", "\ud800", "\ue000", "\u0378", "\U0010ffff"])
def test_what_is_no_character_of_any_script_is_hidden_too(mark: str):
    assert hidden(f"a{mark}") == mark and mark_in_words(mark).removeprefix("control ") == f"character U+{ord(mark):04X}"


def test_no_space_separator_shows_but_the_plain_one():
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)) in ("Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co") and code != 0x20:
            assert is_hidden(chr(code)), hex(code)
            assert (chr(code) in SPACES) == (unicodedata.category(chr(code)) == "Zs" or chr(code) == "\t"), hex(code)


def test_a_mark_that_would_sit_on_the_character_before_the_text_is_named():
    assert hidden("\u0301a") == "\u0301" and hidden("a\u0301") == ""


@in_one_test("space", SPACES)
def test_white_space_is_dropped_at_the_ends_only(space: str):
    assert trimmed(f"{space}a{space}b{space}{space}") == trimmed(f"a{space}b") != "ab"


ALIKE = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d\u2043\u058a\u30fc", "-"),
    **{"\u0440": "p", "\u0420": "P", "\u0430": "a", "\u0441": "c", "\u0456": "i", "\u0501": "d"},
    **{"\u04cf": "l", "\u03bf": "o", "\u039d": "N", "\u0196": "i", "\u2c6d": "A", "\u2024": ".", "\uff0e": ".", "\u0131": "i"},
    **{"\u03bd": "v", "\u0397": "H", "\uff47": "g", "\uff13": "3", "\U0001d420": "g", "\U0001d7d1": "3"},
    **{"i\u0307": "i", "  ": " ", "\ufb01": "fi", "\u2160": "I", "\u2044": "/", "\u0451": "\u00eb", "\u0417": "3", "\u0561": "\u0561"},
}


@in_one_test(("mark", "plain"), ALIKE.items())
def test_what_is_drawn_like_another_has_its_skeleton(mark: str, plain: str):
    assert skeleton(f"x{mark}5") == skeleton(f"X{plain}5")
    assert look_alike(f"x{mark}5", ["y", f"X{plain}5"]) == ("" if mark == plain else f"X{plain}5")


@in_one_test("text", ["gpt-5", "GPT-5", "gpt5", "gpt_5", "gpt-5o", "gpt-50", "gpt 5", "модель-5", "通义千问3-max"])
def test_what_can_be_told_from_another_does_not_look_like_it(text: str):
    others = ["gpt-5", "gpt-5o", "gpt-50", "gpt_5", "gpt 5", "gpt5", "model-5", "3-max", ""]
    assert look_alike(text, others) == "" == look_alike(text, [text.upper()])


def test_a_skeleton_has_itself_for_skeleton():
    for code in chain(range(0x3400), range(0xA000, 0xAC00), range(0xF900, 0x10000), range(0x1D400, 0x1D800)):
        drawn = skeleton(f"a{chr(code)}b")
        assert skeleton(drawn) == drawn, hex(code)


WIDTHS = {"": 0, "gpt-5": 5, "通义千问3-max": 13, "café": 4, "ｇｐｔ": 6, "модель": 6, "→ 50 €": 6, "───": 3}


@in_one_test(("text", "columns"), WIDTHS.items())
def test_a_wide_letter_takes_two_columns_and_a_mark_over_another_none(text: str, columns: int):
    assert width_of(text) == width_of(f"{text}\u0301") == columns
    assert padded(text, 20) == text + " " * (20 - columns)
