"""Total parameters by scores on a benchmark of facts: the gate, shuffled scores, a planted benchmark, and a file of one's own."""

from math import exp, log
from pathlib import Path

import numpy as np
import pytest

from derive.errors import WrongData
from derive.preset_rows import OpenModel
from derive.tables.shipped import read, rows_of
from invert.assumptions import USUAL
from invert.data import Data
from invert.estimators import panel
from invert.estimators.size import SizeForm, knowledge_forms, passes_gate, size_record, with_scores
from invert.inference import infer
from invert.sheets.read import own_file
from invert.sheets.rows import KnowledgeScore
from tests.tools.data import shipped_data
from tests.tools.tables import with_cells

HEADER = "model,benchmark,variant,accuracy,refusals,date,source,grade"


ALONE, BOTH = (SizeForm(params="total_params", priced=priced, benchmark="IKP") for priced in (False, True))


def test_scores_alone_pass_the_gate_and_beside_a_price_they_do_not():
    """Figures of a calculation by other code. The price and the score together pass on later models, and not with families left out."""
    alone = [size_record(shipped_data(), ALONE, left_out) for left_out in ("family", "later")]
    found = [(one.count, one.groups, round(one.rms, 2), round(one.gain, 2)) for one in alone]
    assert found == [(43, 20, 0.77, 0.40), (21, 13, 0.75, 0.49)] and passes_gate(shipped_data(), ALONE, USUAL)
    both = size_record(shipped_data(), BOTH)
    assert both.gain == pytest.approx(0.14, abs=0.01) and both.standard_error > both.gain and not passes_gate(shipped_data(), BOTH, USUAL)
    assert [size_record(shipped_data(), form, "closed vendor").coverage[-1].right for form in (ALONE, BOTH)] == [4, 4]
    assert set(knowledge_forms(shipped_data(), USUAL)) == {ALONE, BOTH}


def test_the_record_is_that_of_a_regression_of_ones_own():
    best: dict[str, float] = {}
    for row in rows_of(KnowledgeScore):
        best[row.model.casefold()] = max(row.accuracy, best.get(row.model.casefold(), 0.0))
    rows = [row for row in rows_of(OpenModel) if row.model.casefold() in best and row.total_params > 1.05 * row.active_params]
    rows = [row for row in rows if row.release_date.year >= 2025]
    scores = [best[row.model.casefold()] for row in rows]
    x, y = np.log([score / (1 - score) for score in scores]), np.log([row.total_params / 1e9 for row in rows])
    families = np.array([row.price_family for row in rows])
    root_weights = np.array([(families == one).sum() ** -0.25 for one in families])
    errors = []
    for place, family in enumerate(families):
        kept = families != family
        slope, intercept = np.polyfit(x[kept], y[kept], 1, w=root_weights[kept])
        errors.append(y[place] - intercept - slope * x[place])
    assert size_record(shipped_data(), ALONE).rms == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=2e-3)


def test_shuffled_scores_gain_nothing():
    text, gains = read().content("knowledge_scores.csv").decode(), []
    for seed in range(10):
        shuffled = iter(np.random.default_rng(seed).permutation([row.accuracy for row in rows_of(KnowledgeScore)]))
        data = Data(read().edited(knowledge_scores=with_cells(text, lambda row, left=shuffled: row | {"accuracy": f"{next(left):.4f}"})))
        gains.append(size_record(data, ALONE).gain)
    assert np.mean(gains) < 0.02


def _own_file(folder: Path, noise: float) -> str:
    """A benchmark whose logit grows with ln of the parameters, and a closed model that scores like one of 500e9."""
    random, rows = np.random.default_rng(3), [HEADER]
    for row in panel.listed_models(shipped_data()):
        at = 1 / (1 + exp(-(log(row.total_params / 500e9) / 2 + noise * random.normal())))
        rows.append(f"{row.model},own,{row.model},{at:.6f},,2026-08-22,my notes,own")
    place = folder / "scores.csv"
    place.write_text("\n".join([*rows, "gpt-6-sol,own,gpt-6-sol,0.5,0.3,2026-08-22,my notes,own"]), encoding="utf-8")
    return str(place)


def test_scores_of_a_file_of_ones_own_tell_the_size_that_they_were_made_from(tmp_path: Path):
    (one,) = infer("gpt-6-sol", knowledge=_own_file(tmp_path, 0.01))
    found = one.estimates["total_params_by_price_and_knowledge"]
    assert found.median == pytest.approx(500e9, rel=0.1) and found.low and found.low < 500e9 < (found.high or 0) < 1e12
    assert found.because.startswith("price and knowledge") and "refused many questions" in found.because
    (shipped,) = infer("gpt-6-sol")
    assert {one.kind for name, one in shipped.estimates.items() if name.startswith("total_params_by_")} == {"undetermined"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("model,score\na,1\n", "there is no column benchmark"),
        (f"{HEADER}\na,own,a,80%,,2026-08-22,me,own\n", "row 2, column accuracy: '80%' is not a number"),
        (f"{HEADER}\na,own,a,1.2,,2026-08-22,me,own\n", "row 2, column accuracy"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_its_first_fault(tmp_path: Path, text: str, told: str):
    place = tmp_path / "mine.csv"
    place.write_text(text, encoding="utf-8")
    with pytest.raises(WrongData, match=r"mine\.csv") as error:
        with_scores(shipped_data(), own_file(str(place)))
    assert told in str(error.value)
