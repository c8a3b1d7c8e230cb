"""Build a page for each equation: the outputs of `backsolve show` and `backsolve cite`, typeset and linked."""

from backsolve.site.writing import INDEX, Page
from derive.catalogue import by_id


def equation_address(id: str) -> str:
    """Return the permanent address of the page of an equation.

    >>> equation_address("roofline.step_time")
    'eq/roofline.step_time/index.html'
    """
    return f"eq/{id}/{INDEX}"


def equation_page(id: str) -> Page:
    """Return the page of an equation."""
    rows = [None, *by_id().values(), None]
    place = rows.index(by_id()[id])
    return Page(equation_address(id), "equation.html", {"row": rows[place], "before": rows[place - 1], "after": rows[place + 1]})
