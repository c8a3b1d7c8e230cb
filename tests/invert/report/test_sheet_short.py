"""One sheet on one screen: the readings, the forward model's prices beside the published ones, and commands that can be pasted."""

import pytest

from invert.report.layout import laid_out
from invert.report.prices import predicted_prices
from invert.report.sheet import short_parts
from tests.tools.inferred import current, everything

MOST_LINES, FREE_PRICES = 24, 4
"""Lines at 80 columns, and how many rows of prices are among them: a line more for each other row."""


@pytest.mark.parametrize("width", [80, 100, 120])
def test_a_sheet_fits_a_screen(width: int):
    run = everything()
    for one in run:
        text = laid_out(short_parts(one, run), width)
        prices = len(predicted_prices(one).rows)
        assert len(text.splitlines()) <= MOST_LINES + max(0, prices - FREE_PRICES), text
        assert all(len(line) <= width for line in text.splitlines() if "://" not in line)


def predicted(name: str) -> dict[str, list[str]]:
    return {next(iter(row.values())): [*row.values()][1:] for row in predicted_prices(current()[name]).rows}


def test_every_price_stands_beside_what_the_forward_model_predicts():
    found = predicted("google/gemini-3.1-pro-preview")
    assert found["input"] == ["2", "used"] and found["output"] == ["12", "used"]
    assert found["input above 200k"] == ["4", "2, missed"] and found["output above 200k"] == ["18", "15.5, missed"]
    assert found["cache read"][1] == "at least 0.00001" and found["cache read above 200k"] == ["0.4", "-"]
    assert found["cache storage"] == ["4.5/h", "1.19, missed"]
    misses = sum(cells[1].endswith("missed") for cells in found.values())
    parts = short_parts(current()["google/gemini-3.1-pro-preview"], current())
    assert misses == 3 and "0 of 3 other prices" in laid_out(parts, 100)


def test_without_a_threshold_there_is_nothing_to_predict():
    assert "forward model" not in predicted_prices(current()["anthropic/claude-opus-5"]).columns
