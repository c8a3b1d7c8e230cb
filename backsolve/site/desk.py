"""Build the sizing desk: a model on chips, with the results for a step, a token and a user."""

from backsolve.figures.usual import CHIP, DATA_TYPE, MODEL
from backsolve.site.formulas import Json
from backsolve.site.presets import ASKED, FIELDS, OWN, TITLES, presets_data
from backsolve.site.writing import Page
from derive import presets
from derive.quantities import quantity
from derive.solving.api import solve
from derive.units import show

_START = (CHIP, DATA_TYPE, MODEL)
"""The chip, the data type and the model that the desk begins with."""


def desk_page() -> Page:
    """Return the page of the desk."""
    words = (*ASKED, *FIELDS, *presets_data()["chips"], *presets_data()["models"])
    return Page("desk/index.html", "desk.html", {"desk": desk_data(), "command": first_command(), "words": " ".join(words)})


def first_command() -> str:
    """Return the command for the first state of the desk, with the rent of its chip."""
    chip, dtype, model = _START
    fields = " ".join(f"'{name}={show(name, value)}'" for name, value in (FIELDS | presets.rent(chip).givens).items())
    return f"backsolve solve {','.join(ASKED)} --hardware {chip}:{dtype} --model {model} {fields}"


def desk_data() -> Json:
    """Return the data for the script of the desk, except chips and models."""
    chip, dtype, model = _START
    # Fields that are a part of another field, with the name of the whole.
    parts = {name: whole for name in FIELDS if (whole := quantity(name).whole) in FIELDS}
    # The equations assume the best overlap and hiding, so a result may be a lower or upper bound.
    first = {name: solve(name, hardware=f"{chip}:{dtype}", model=model, given=FIELDS).answers[0] for name in ASKED}
    bounds = {name: answer.bound or "" for name, answer in first.items()}
    return {"asked": ASKED, "start": _START, "bounds": bounds, "parts": parts, "titles": TITLES, "own": OWN}
