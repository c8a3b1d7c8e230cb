"""Records of the problems of a table: a file, a row or a cell."""

from collections.abc import Iterable

from derive.errors import WrongData
from derive.immutable import immutable


@immutable
class Problem:
    """One thing wrong with a file, a row or a cell. `str()` gives the line that people read.

    >>> print(Problem(origin="prices.csv", row=12, column="amount", message="'abc' is not a number"))
    prices.csv row 12, column amount: 'abc' is not a number
    """

    origin: str
    message: str
    row: int | None = None
    column: str | None = None

    def __str__(self) -> str:
        row = "" if self.row is None else f" row {self.row}"
        column = "" if self.column is None else f", column {self.column}"
        return f"{self.origin}{row}{column}: {self.message}"


def first_of_each_place(problems: Iterable[Problem]) -> list[Problem]:
    """Return the first problem of each cell, row or file."""
    found: dict[tuple[str, int | None, str | None], Problem] = {}
    for one in problems:
        found.setdefault((one.origin, one.row, one.column), one)
    return list(found.values())


class BadRow(WrongData):
    """A question needs a table that cannot be used. `problems` name its wrong rows, and the message has a line for each."""

    def __init__(self, *problems: Problem):
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems
