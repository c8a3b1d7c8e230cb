"""The text of a formula is read, and nothing else."""

import pytest

from derive.quantities.formula import as_expression


def test_what_is_no_formula_is_refused():
    for text in ("batch.real", "__import__('os')", "batch if chips else 1", "'batch'", "0.5*batch", "[batch]", "factorial(batch)"):
        with pytest.raises(ValueError, match="not a formula"):
            as_expression(text)
