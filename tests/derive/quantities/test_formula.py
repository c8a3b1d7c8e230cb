"""The text of every formula of the catalogue is read back as the expression it was printed from."""

import pytest

from derive.catalogue import equations
from derive.quantities.formula import as_expression


def test_every_formula_of_the_catalogue_is_read_back():
    for row in equations():
        assert [as_expression(str(side)) for side in row.sides] == [*row.sides], row.id


def test_what_is_no_formula_is_refused():
    for text in ("batch.real", "__import__('os')", "batch if chips else 1", "'batch'", "0.5*batch", "[batch]", "factorial(batch)"):
        with pytest.raises(ValueError, match="not a formula"):
            as_expression(text)
