"""What a wrong name is answered with. Characters that do not show are found and named, and names that look alike are one name."""

import inspect
import sys
import unicodedata
from itertools import chain
from time import process_time

import pytest

from derive import errors
from derive.errors import (
    INPUT_IS_WRONG,
    NO_ANSWER,
    SPACES,
    BacksolveError,
    UnknownName,
    hidden,
    is_hidden,
    look_alike,
    mark_in_words,
    shorten,
    skeleton,
    suggest,
    trimmed,
)
from derive.show.layout import padded, width_of
from tests.tools.together import in_one_test


def test_every_mistake_is_a_value_error_of_ours_with_a_status_of_the_command_line():
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if kind.__module__ == errors.__name__]
    assert len(kinds) > 6 and all(issubclass(kind, BacksolveError) and issubclass(kind, ValueError) for kind in kinds)
    refuse_question = {kind.__name__ for kind in kinds if kind.exit_status == NO_ANSWER}
    assert refuse_question == {"NoRent", "NotCovered", "NoSingleValue"}
    assert all(kind.exit_status == INPUT_IS_WRONG for kind in kinds if kind.__name__ not in refuse_question)


# -- what may have been meant -----------------------------------------------------------------------------------------

NAMES = ("batch", "balance_batch", "step_time", "peak_flops", "hbm_bandwidth", *(f"other_{place}" for place in range(12)))


@in_one_test(
    ("given", "said"),
    [
        ("bacth", "; did you mean 'batch'?"),
        ("BATCH_SIZE", "; did you mean 'batch'?"),
        ("decode_time", "; did you mean 'step_time'?"),
        ("TFLOPS", "; did you mean 'peak_flops'?"),
        ("bandwidth", "; did you mean 'hbm_bandwidth'?"),
        ("ba", ""),
        ("entropy", ""),
    ],
)
def test_the_nearest_names_are_offered(given: str, said: str):
    assert suggest(given, NAMES) == said


def test_at_most_three_names_are_offered():
    offered = suggest("balance_batches", [*NAMES, "balance_batch_with_kv", "balance_batch_a", "balance_batch_b"])
    assert offered.startswith("; did you mean 'balance_batch") and offered.count(" or ") == 2


def test_a_short_list_is_given_whole_and_a_long_one_not_at_all():
    assert suggest("entropy", NAMES[:14]) == "; allowed: " + ", ".join(NAMES[:14])
    assert suggest("entropy", NAMES[:15]) == suggest("entropy", []) == ""


def test_of_a_text_of_megabytes_no_more_is_compared_than_names_are_long():
    begun = process_time()
    assert suggest("a" * 30_000_000, [f"name_{place}" for place in range(1_000)]) == ""
    assert process_time() - begun < 2


# -- what was given ---------------------------------------------------------------------------------------------------


@in_one_test("text", ["x" * 58, "x" * 59, "x" * 10_000, "\n\x1b[31m" * 30, "'" * 70, ""])
def test_a_quoted_text_is_a_line_of_at_most_sixty_characters(text: str):
    shown = shorten(text)
    assert shown.isprintable() and len(shown) <= 60
    assert (shown == repr(text)) == (len(repr(text)) <= 60) == (not shown.endswith("...'"))


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ("b\u0430tch", "character 2 is U+0430 (cyrillic small letter a) where 'batch' has 'a'; did you mean 'batch'?"),
        ("kv\u2013bytes", "character 3 is U+2013 (en dash) where 'kv-bytes' has '-'; did you mean 'kv-bytes'?"),
        ("two  words", "character 5 is U+0020 (space) where 'two words' has 'w'; did you mean 'two words'?"),
    ],
)
def test_an_unknown_name_says_which_of_its_characters_is_another(given: str, fault: str):
    assert str(UnknownName("quantity", given, ["batch", "kv-bytes", "two words"])) == f"unknown quantity {given!r}: {fault}"


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
