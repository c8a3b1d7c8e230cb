"""The fields of a page print numbers as the command line does, read what people type as it does, and say what is allowed."""

import json
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import pytest

from backsolve.site.formulas import quantities_data
from derive.quantities import QUANTITIES
from derive.solving.givens import Interval, spread
from derive.units import parse, show
from tests.tools.solver_script import NODE

SCRIPT = Path(__file__).parents[2] / "tools" / "form_script.js"
ROWS = quantities_data(QUANTITIES)

pytestmark = pytest.mark.skipif(NODE is None, reason="node, which runs the script of the pages, is not there")


def told(lines: list[dict[str, Any]]) -> list[Any]:
    """What the script answers to each line."""
    text = "\n".join(map(json.dumps, lines))
    made = subprocess.run([NODE or "node", SCRIPT], input=text, capture_output=True, text=True, check=True).stdout
    return [*map(json.loads, made.splitlines())]


def test_numbers_are_printed_as_at_the_command_line() -> None:
    random = Random(5)
    values = [(name, row.at(random.random())) for name, row in QUANTITIES.items() for _ in range(4)]
    shown = told([{"row": ROWS[name], "show": value} for name, value in values])
    assert shown == [show(name, value) for name, value in values]


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        *(("hbm_bandwidth", "3.35TB/s"), ("context_length", "200k"), ("kv_bytes_per_token", "1.7 kB"), ("output_price", "12 USD/MTok")),
        *(
            ("active_params", "37B"),
            ("mfu", "40%"),
            ("step_time", "20 ms"),
            ("batch", "1_000"),
            ("chip_price", "$2/h"),
            ("hbm_capacity", "80GB"),
        ),
    ],
)
def test_what_is_typed_is_read_as_at_the_command_line(name: str, typed: str) -> None:
    (found,) = told([{"row": ROWS[name], "read": typed}])
    assert found["value"] == pytest.approx(parse(name, typed), rel=1e-15)


@pytest.mark.parametrize(
    ("name", "typed", "fault"),
    [
        *(("mfu", "1.2", "must be in (0, 1]"), ("batch", "0", "must be > 0"), ("batch", "many", "needs a number")),
        *(
            ("hbm_bandwidth", "3 km", "is not given in km, but in PB/s, "),
            ("step_time", "9e15", "is far from what is met: values met in practice run from"),
            ("context_length", "1,000", "takes no comma: write thousands as 1000 or 1_000"),
            ("batch", "3..5", "takes a single number"),
            ("batch", "1e400", "is too large: values met in practice run from"),
        ),
    ],
)
def test_a_number_out_of_its_domain_is_told_what_is_allowed(name: str, typed: str, fault: str) -> None:
    (found,) = told([{"row": ROWS[name], "read": typed}])
    assert found["fault"].startswith(fault)


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        *(("batch", "16..64"), ("context_length", "200k..250k"), ("active_params", "80..120B"), ("hbm_bandwidth", "3..4 TB/s")),
        *(("mfu", "0.4±0.1"), ("mfu", "40%+-5%"), ("batch", "100±10%"), ("step_time", "20±5 ms"), ("context_length", "4..8k")),
        *(("mfu", "30%..50%"), ("mfu", "0.4 ± 10%"), ("hbm_bandwidth", "3TB/s±500 GB/s"), ("cached_tokens", "0..5k")),
    ],
)
def test_ranges_are_read_as_at_the_command_line(name: str, typed: str) -> None:
    (found,) = told([{"row": ROWS[name], "span": typed}])
    expected = spread(name, typed, parse)
    assert isinstance(expected, Interval)
    assert found["span"] == pytest.approx(expected.ends, rel=1e-15) and found["value"] == pytest.approx(expected.shown, rel=1e-15)


@pytest.mark.parametrize(
    ("name", "typed", "fault"),
    [
        *(("batch", "64..16", "is a range whose first value must be below the second"), ("batch", "16...64", "has three dots or more")),
        *(("mfu", "0.5..1.5", "must be in (0, 1]"), ("mfu", "0.9±0.2", "must be in (0, 1]"), ("batch", "many..64", "needs a number")),
        *(("batch", "1..64:log", "takes a number or a range as 16..64 here; sweeps"), ("batch", "1;8;64", "takes a number or a range")),
        *(("batch", "64±", "needs a number"), ("batch", "100±0%", "takes a percentage above 0"), ("batch", "..", "needs a number")),
    ],
)
def test_what_is_no_range_is_told_what_is_allowed(name: str, typed: str, fault: str) -> None:
    (found,) = told([{"row": ROWS[name], "span": typed}])
    assert found["fault"].startswith(fault)
