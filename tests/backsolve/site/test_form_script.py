"""The fields of a page print numbers as the command line does, read what people type as it does, and say what is allowed."""

import json
import re
from collections.abc import Iterator
from random import Random

import pytest

from backsolve.site.formulas import quantities_data
from campaigns.solver_script import NODE, SCRIPT
from derive.errors import BacksolveError
from derive.quantities import QUANTITIES
from derive.units import parse, show, vocabulary
from tests.tools.line_by_line import Ask, answering

FORM = SCRIPT.with_name("form_script.js")
ROWS = quantities_data(QUANTITIES)

pytestmark = pytest.mark.skipif(NODE is None, reason="node, which runs the script of the pages, is not there")


@pytest.fixture(scope="module")
def told() -> Iterator[Ask]:
    """What the script answers to a line."""
    with answering(FORM, json.dumps(vocabulary())) as ask:
        yield ask


def test_numbers_are_printed_as_at_the_command_line(told: Ask) -> None:
    random = Random(5)
    values = [(name, row.at(random.random())) for name, row in QUANTITIES.items() for _ in range(4)]
    shown = [told({"row": ROWS[name], "show": value}) for name, value in values]
    assert shown == [show(name, value) for name, value in values]


TYPED = (
    "hbm_bandwidth=3.35TB/s context_length=200k active_params=37B mfu=40% batch=1_000 chip_price=$2/h hbm_capacity=80GB "
    "tier_bandwidth=400Gbit/s context_length=32Ki bytes_per_weight=fp8 ttl=5min hbm_capacity=64GiB chip_power=0.7kW throughput=20ktok/s "
    "kv_bytes_per_token=70kB gross_margin=-20% gross_margin=0"
)
WITH_SPACES = (
    ("kv_bytes_per_token", "1.7 kB"),
    ("output_price", "12 USD/MTok"),
    ("output_price", "1.2e-5 USD/token"),
    ("output_price", "12 USD per million tokens"),
    ("output_price", "$12 / 1M tokens"),
    ("chip_price", "2 USD/GPU-h"),
    ("chip_price", "48 usd/day"),
    ("electricity_price", "80 USD/MWh"),
)


@pytest.mark.parametrize(("name", "typed"), [*(one.split("=") for one in TYPED.split()), *WITH_SPACES])
def test_what_is_typed_is_read_as_at_the_command_line(told: Ask, name: str, typed: str) -> None:
    found = told({"row": ROWS[name], "read": typed})
    assert found["value"] == pytest.approx(parse(name, typed), rel=1e-15)


SAID_ALIKE = [
    *(
        ("mfu", "1.2"),
        ("mfu", "120%"),
        ("batch", "0"),
        ("batch", "-3"),
        ("batch", "1e400"),
        ("mfu", "1e-320"),
        ("batch", "many"),
        ("batch", "10%"),
    ),
    *(("batch", "3 m"), ("step_time", "-1 us"), ("output_price", "-2 USD/MTok"), ("expert_imbalance", "0.5"), ("chip_price", "3 USD")),
    *(("hbm_bandwidth", "3 km"), ("hbm_bandwidth", "3 GB"), ("output_price", "12/MTok"), ("step_time", "20k"), ("hbm_capacity", "80 Gbit")),
    *(("kv_replication", "0.5"), ("step_time", "20 ms ms"), ("context_length", "4" * 300)),
]


@pytest.mark.parametrize(("name", "typed"), SAID_ALIKE)
def test_a_refusal_says_what_the_command_says(told: Ask, name: str, typed: str) -> None:
    found = told({"row": ROWS[name], "read": typed})
    with pytest.raises(BacksolveError) as refused:
        parse(name, typed)
    said = re.sub(r" \(the shell [^)]*\)", "", str(refused.value))
    assert f"{name} {found['fault']}".replace("$", "").split("; write e.g. ")[0] == said.split("; write e.g. ")[0]
    assert ("; write e.g. " in said) == ("; write e.g. " in found["fault"])


@pytest.mark.parametrize(
    ("name", "typed", "fault"),
    [
        ("step_time", "9e15 s", "= 9e+15 s: absurd. Values in practice are from 1 µs to 100 s"),
        ("context_length", "1,000", "is in token; '1,000' has a comma, which may group thousands"),
        ("batch", "16-64", "is a plain number; '16-64' looks like a range, which is written low..high or middle±half (16..64)"),
        ("batch", "3..5", "is a plain number; '3..5' looks like a range"),
        ("output_price", "twelve", "is in USD/token; 'twelve' does not begin with a number; write e.g. $"),
    ],
)
def test_what_a_page_cannot_take_is_told_with_what_it_takes(told: Ask, name: str, typed: str, fault: str) -> None:
    found = told({"row": ROWS[name], "read": typed})
    assert found["fault"].startswith(fault)


@pytest.mark.parametrize(("typed", "allowed"), [("0.5", "write 1"), ("2.5", "write 2 or 3")])
def test_what_is_counted_is_whole(told: Ask, typed: str, allowed: str) -> None:
    found = told({"row": ROWS["chips"] | {"undivided": True}, "read": typed})
    assert found["fault"] == f"= {typed}: must be a whole number: {allowed}"


def test_what_a_link_says_is_short_and_reads_back_as_it_was(told: Ask) -> None:
    texts = {"context_length": (32_000.0, "32k"), "chip_price": (2 / 3600, "$2/h"), "step_time": (0.02, "20ms"), "batch": (2400.0, "2400")}
    assert {name: told({"row": ROWS[name], "typed": value}) for name, (value, _) in texts.items()} == {
        name: text for name, (_, text) in texts.items()
    }
    random = Random(6)
    for name, row in QUANTITIES.items():
        value = row.at(random.random())
        assert told({"row": ROWS[name], "asked": told({"row": ROWS[name], "typed": value})})["value"] == pytest.approx(value, rel=1e-15), (
            name
        )


@pytest.mark.parametrize(
    ("name", "typed", "value"), [("context_length", "32k", 32e3), ("chip_price", "$2/h", 2 / 3600), ("mfu", "50%", 0.5)]
)
def test_a_link_takes_units(told: Ask, name: str, typed: str, value: float) -> None:
    assert told({"row": ROWS[name], "asked": typed})["value"] == pytest.approx(value)
