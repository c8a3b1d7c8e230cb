"""What a byte of HBM and a FLOP cost on a rented chip, and whose rent it is."""

from dataclasses import replace

import pytest

from derive.errors import UnknownName, WrongData
from derive.tables import shipped
from invert.assumptions import USUAL
from invert.estimators.rent import rental
from tests.tools.data import shipped_data
from tests.tools.tables import reading


def test_the_rent_is_the_disclosed_one_and_says_so():
    anchors = rental(shipped_data())
    assert anchors.values["chip_price"] == pytest.approx(2 / 3600) and anchors.origin["chip_price"].startswith("disclosures.csv deepseek")
    assert anchors.values["price_per_hbm_byte"] == pytest.approx(2 / 3600 / 3.35e12)
    assert anchors.values["price_per_flop"] == pytest.approx(2 / 3600 / 989e12)
    assert set(anchors.values) == set(anchors.origin)


def test_a_rent_that_nobody_disclosed_is_a_fault_of_the_table():
    lines = [line for line in shipped.read().content("disclosures.csv").decode().splitlines() if ",chip_price," not in line]
    without = shipped.read().edited(disclosures="\n".join(lines))
    with reading(without), pytest.raises(WrongData, match=r"disclosures\.csv: no chip_price"):
        rental(shipped_data())
    with pytest.raises(UnknownName, match="accelerator"):
        rental(shipped_data(), replace(USUAL, rent_chip="H1000:bf16"))
