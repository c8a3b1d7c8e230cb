"""Characters that do not show are found and named; names that look alike are one name."""

import sys
import unicodedata

import pytest

from derive.characters import SPACES, hidden, is_hidden, named, trimmed
from derive.errors import UnknownName

UNSEEN = {
    **{"\u00a0": "no-break space", "\u00ad": "soft hyphen", "\u061c": "arabic letter mark", "\u200b": "zero width space"},
    **{"\u200d": "zero width joiner", "\u200f": "right-to-left mark", "\u202e": "right-to-left override", "\u2060": "word joiner"},
    **{"\ufeff": "zero width no-break space", "\ufe0f": "variation selector-16", "\U000e0100": "variation selector-17"},
    **{"\u3164": "hangul filler", "\u115f": "hangul choseong filler", "\u034f": "combining grapheme joiner"},
    **{"\u2800": "braille pattern blank", "\u2028": "line separator", "\u3000": "ideographic space"},
}


@pytest.mark.parametrize(("mark", "name"), UNSEEN.items())
def test_a_character_that_does_not_show_is_named(mark: str, name: str):
    assert hidden(f"gpt{mark}5") == hidden(f"gpt{mark}5{mark}") == mark
    assert named(mark).removeprefix("control ") == f"character U+{ord(mark):04X} ({name})"


@pytest.mark.parametrize("mark", ["\x1b", "\x85", "\ud800", "\ue000", "\u0378", "\U0010ffff"])
def test_what_is_no_character_of_any_script_is_hidden_too(mark: str):
    assert hidden(f"a{mark}") == mark and named(mark).removeprefix("control ") == f"character U+{ord(mark):04X}"


@pytest.mark.parametrize("text", ["", "gpt-5.6 (fast)", "通义千问3-max", "café", "Ω µ ± …", "модель", "नमूना", "→ 50 €"])
def test_words_of_any_script_show(text: str):
    assert hidden(text) == "" and trimmed(text) == text


def test_no_space_separator_shows_but_the_plain_one():
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)) in ("Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co") and code != 0x20:
            assert is_hidden(chr(code)), hex(code)
            assert (chr(code) in SPACES) == (unicodedata.category(chr(code)) == "Zs" or chr(code) == "\t"), hex(code)


def test_a_mark_that_would_sit_on_the_character_before_the_text_is_named():
    assert hidden("\u0301a") == "\u0301" and hidden("a\u0301") == ""


@pytest.mark.parametrize("space", SPACES)
def test_white_space_is_dropped_at_the_ends_only(space: str):
    assert trimmed(f"{space}a{space}b{space}{space}") == trimmed(f"a{space}b") != "ab"


def test_both_spellings_of_an_accented_letter_are_one():
    assert trimmed("cafe\u0301") == trimmed("caf\u00e9") == "caf\u00e9"


def test_an_unknown_name_says_which_of_its_characters_does_not_show():
    message = str(UnknownName("quantity", "bat\u200bch", ["batch"]))
    assert r"unknown quantity 'bat\u200bch': it holds the character U+200B (zero width space), which does not show" in message
    assert message.endswith("; did you mean 'batch'?")
