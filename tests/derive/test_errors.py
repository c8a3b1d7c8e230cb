"""What a message of a mistake says: what was given, as it can be printed, and what may have been meant."""

import inspect
from time import process_time

import pytest

from derive import errors
from derive.errors import INPUT_IS_WRONG, NO_ANSWER, BacksolveError, UnknownName, shorten, suggest
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
