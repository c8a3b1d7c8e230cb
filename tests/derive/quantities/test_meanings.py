"""Quantities by what words mean."""

from derive.quantities import QUANTITIES
from derive.quantities.aliases import ALIASES
from derive.quantities.meanings import by_meaning, words_of

SAID = words_of(QUANTITIES)


def test_the_words_of_its_own_name_lead_to_a_quantity_in_any_order():
    """Of names that say the same of two things, the other may come first."""
    lost = [name for name in QUANTITIES if name not in by_meaning("_".join(reversed(name.split("_"))), SAID)[:4]]
    assert not [name for name in lost if len(name) > 4], lost


def test_what_a_quantity_is_also_called_leads_to_it():
    words = {word: meant[0] for word, meant in ALIASES.items() if len(meant) == 1 and "_" in word}
    lost = [word for word, name in words.items() if name not in by_meaning(word, SAID)[:6]]
    assert len(lost) <= 0.15 * len(words), lost


def test_words_that_say_little_lead_nowhere():
    assert by_meaning("number_of_all", SAID) == by_meaning("zork", SAID) == by_meaning("", SAID) == []
