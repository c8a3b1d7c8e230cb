"""Rows of claims.csv and problems.csv: published numbers, each with the verdict after the calculation."""

from collections.abc import Callable, Iterator

from derive.catalogue import equation
from derive.errors import BacksolveError, WrongUnit, shorten
from derive.tables.cells import NUMBER
from derive.tables.questions import read_givens, stated_range, unknown_names
from derive.tables.shipped import Fault, TableRow, is_known

AGREES = ("reproduced", "under a stated convention")
UNDECIDED = "not decidable"
AS_PUBLISHED = ("reproduced", "convention")
"""Verdicts on a published problem with a right answer. For the second verdict the reason names a convention."""
_REPRODUCED, _CONVENTION = (
    "the computed number is within the tolerance of the stated one",
    "within the tolerance, if the convention in the reason is used",
)
CLAIM_VERDICTS = {
    "reproduced": _REPRODUCED,
    "under a stated convention": _CONVENTION,
    "loose": "outside the tolerance, because the claim rounds or its arithmetic is wrong",
    "contradicted by data": "outside the tolerance, because a table has other figures",
    UNDECIDED: "there is no number to compare",
}
"""What each verdict on a claim means."""
PROBLEM_VERDICTS = {
    "reproduced": _REPRODUCED,
    "convention": _CONVENTION,
    "loose": "outside the tolerance, because of rounding or a small omission",
    "contradicted": "outside the tolerance, because the published answer is wrong or leaves something out",
}
"""What each verdict on a published problem means."""
_COMPARED = ("unknown", "stated", "givens", "tolerance")
"""Columns of a claim with numbers for the comparison."""


class Claim(TableRow):
    """A row of claims.csv: a number of the lecture, or attributed to it, and the result of the check."""

    TABLE = "claims"

    def faults(self) -> Iterator[Fault]:
        undecided = self.verdict == UNDECIDED
        for column in _COMPARED:
            if is_known(self, column) == undecided and (column != "stated" or not undecided):
                yield column, "is known, but the claim is not decidable" if undecided else "is blank, but the claim has a verdict"
                return
        if not self.reason and self.verdict != "reproduced":
            yield "reason", "is blank, but the verdict needs a reason"
        if not undecided:
            yield from _readable(self, ("equations", lambda: [equation(id) for id in self.equations]))


class WorkedProblem(TableRow):
    """A row of problems.csv: a published problem with its answer, as one question, and the verdict on the answer."""

    TABLE = "problems"

    def faults(self) -> Iterator[Fault]:
        if not self.reason and self.verdict != "reproduced":
            yield "reason", "is blank, but the verdict needs a reason"
        if not self.arithmetic and self.verdict not in AS_PUBLISHED:
            yield "arithmetic", "is blank, but the answer differs from the published one"
        if "/" in self.unknown:
            yield "unknown", f"{shorten(self.unknown)} is a quotient: a problem has one unknown"
        yield from _readable(self, ("givens", lambda: [equation(id) for id in read_givens(self.givens).using]))


def _readable(row: Claim | WorkedProblem, *more: tuple[str, Callable[[], object]]) -> Iterator[Fault]:
    """Return the first unreadable cell of the columns that claims and problems share, and of `more`."""
    cells: tuple[tuple[str, Callable[[], object]], ...] = (
        ("unknown", lambda: unknown_names(row.unknown)),
        ("stated", lambda: stated_range(row.unknown, row.stated, row.unit)),
        ("givens", lambda: read_givens(row.givens)),
    )
    for column, read in (*cells, *more):
        try:
            read()
        except BacksolveError as fault:
            wrong_unit = column == "stated" and isinstance(fault, WrongUnit) and all(map(NUMBER.fullmatch, row.stated.split("..")))
            yield ("unit" if wrong_unit and row.unit else column), str(fault)
            return
