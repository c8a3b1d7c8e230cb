"""The ways to look something up: nothing of the catalogue is left out, and all is in order."""

import pytest

from backsolve.site.lookups import claims_found, quantities_in_order, said_in_order, video_of
from derive.catalogue import by_id, equation
from derive.quantities import QUANTITIES
from derive.tables import shipped
from derive.tables.lines import BadRow
from tests.tools.tables import reading


def test_the_lecture_is_in_order_and_every_time_has_its_second_of_the_video():
    said = said_in_order()
    times = [(source.start, source.end) for source, _ in said]
    assert times == sorted(times) and all(video_of(source).endswith(f"?t={source.start}") for source, _ in said)
    assert {row.id for _, row in said} == {row.id for row in by_id().values() if any(map(video_of, row.sources))}


def test_every_quantity_is_there_with_all_its_equations():
    rows = {row.name: (defined, used) for row, defined, used in quantities_in_order()}
    assert [*rows] == sorted(QUANTITIES)
    defined, used = rows["balance_batch"]
    assert equation("batching.balance_batch") in defined and used and not {one.id for one in defined} & {one.id for one in used}


def test_every_claim_has_a_verdict():
    rows, problems = claims_found()
    assert problems == () and len(rows) > 100 and all(row["verdict"] for row in rows)


def test_claims_that_cannot_be_read_stop_the_site_with_their_place():
    text = shipped.read().content("claims.csv").decode()
    claims_found.cache_clear()
    wrong = shipped.read().edited(claims=text.replace("verdict", "verdikt", 1))
    with reading(wrong), pytest.raises(BadRow, match=r"claims\.csv row 1.*verdikt"):
        claims_found()
    claims_found.cache_clear()
