"""The text of a formula is read, and nothing else. The symbols of equations are attributes and keys."""

import pytest

from derive.catalogue import equation
from derive.errors import UnknownName
from derive.quantities import QUANTITIES
from derive.quantities.formula import as_expression, symbols


def test_what_is_no_formula_is_refused():
    for text in ("batch.real", "__import__('os')", "batch if chips else 1", "'batch'", "0.5*batch", "[batch]", "factorial(batch)"):
        with pytest.raises(ValueError, match="not a formula"):
            as_expression(text)


def test_symbols_by_name_and_by_key():
    assert symbols.batch is symbols["batch"] is symbols.B and symbols.batch in equation("roofline.kv_time").expression.free_symbols
    assert "batch" in dir(symbols) and len(symbols) == len(list(symbols))
    with pytest.raises(AttributeError, match="did you mean 'batch'"):
        symbols.batchh  # noqa: B018
    with pytest.raises(UnknownName, match="did you mean 'batch'"):
        symbols["batchh"]
    with pytest.raises(AttributeError, match=r"^__wrapped__$"):
        symbols.__wrapped__  # noqa: B018
    assert "batchh" not in symbols and getattr(symbols, "batchh", None) is None


def test_a_mapping_of_every_quantity():
    assert list(symbols) == list(QUANTITIES) and repr(symbols) == f"<the symbols of {len(QUANTITIES)} quantities>"
    assert dict(symbols)["batch"] is symbols.batch and set(QUANTITIES) <= set(dir(symbols))
    assert "B" not in symbols and symbols["B"] is symbols.batch, "a short symbol is another way to ask, no key"
