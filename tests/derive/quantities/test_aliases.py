"""What quantities are called elsewhere: each word means one of them, or is refused with all that it could mean."""

import pytest

from derive.errors import AmbiguousName
from derive.quantities import NAME_OF_SYMBOL, QUANTITIES, quantity
from derive.quantities.aliases import ALIASES
from derive.solving.api import solve
from tests.tools.together import in_one_test


@in_one_test(("word", "meant"), ALIASES.items())
def test_a_word_means_quantities_and_is_the_name_of_none(word, meant):
    assert set(meant) <= set(QUANTITIES) and word == word.lower()
    assert word not in QUANTITIES and word not in NAME_OF_SYMBOL and word.upper() not in NAME_OF_SYMBOL
    if len(meant) == 1:
        assert quantity(word) is quantity(word.upper()) is QUANTITIES[meant[0]]
        return
    with pytest.raises(AmbiguousName) as caught:
        quantity(word)
    assert str(caught.value) == f"quantity {word!r} could mean {' or '.join(meant)}: write the one that is meant"


def test_words_stand_on_either_side_of_a_question():
    """Two seconds, less 0.5 in the queue."""
    assert solve("ttft", queue_time="0.5s", prefill_time="1.5s").answers[0].value == 2
    assert solve("QPS", throughput="1000 token/s", osl=500).answers[0].value == 2
    assert solve("prefill_time", TTFT="2s", queue_time="0.5s").answers[0].value == 1.5
