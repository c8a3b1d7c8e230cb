"""Each fault of the campaign of wrong formulas changes the entry that it names. `.ci/long` tries whether it is seen."""

from campaigns.wrong_formulas import ROOT, ROWS, with_fault
from tests.tools.together import in_one_test


@in_one_test("row", ROWS, ids=lambda row: f"{row['name']} {row['entry']}")
def test_a_fault_is_put_into_the_entry_that_it_names(row: dict[str, str]):
    right = (ROOT / row["file"]).read_text(encoding="utf-8")
    wrong = with_fault(right, row)
    assert wrong != right
    compile(wrong, row["file"], "exec") if row["file"].endswith(".py") else None
