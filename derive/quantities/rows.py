"""The rows of the one registry, plain data: name, symbol, LaTeX, unit, meaning, low, high and, where not > 0, domain.

Last, where there are no more of it than of another quantity, the name of that.

`low` and `high` bound the values met in practice, from which the tests draw.
"""

from derive.quantities import clusters, constants, models, serving, sheets, steps, training

QUANTITY_ROWS = (*steps.ROWS, *serving.ROWS, *models.ROWS, *clusters.ROWS, *training.ROWS, *sheets.ROWS)
CONSTANT_ROWS = constants.ROWS
