"""Inferences as a table of pandas: a row a sheet, missing where there is nothing."""

from dataclasses import replace

import numpy as np

from invert.report.flat import COLUMNS, flat
from invert.report.frame import inference_frame
from invert.table import InferenceTable


def test_a_row_a_sheet_and_the_flat_columns(run: InferenceTable):
    frame = inference_frame(run)
    assert list(frame.columns) == list(COLUMNS) and len(frame) == len(run)
    assert list(frame["model"]) == [flat(one)["model"] for one in run]
    assert frame.equals(run.to_frame())


def test_numbers_are_numbers_and_what_does_not_exist_is_missing(run: InferenceTable):
    frame = inference_frame(run).set_index("model")
    for name in ("input_price_usd_per_token", "kv_bytes_per_token_lecture", "kv_bytes_per_token_headline", "active_params"):
        assert frame[name].dtype == np.float64, name
    single = [one.sheet.model for one in run if not one.pairs]
    assert single and frame.loc[single, "premium_out"].isna().all() and frame.drop(single)["premium_out"].notna().all()


def test_a_run_without_sheets_has_its_columns(run: InferenceTable):
    frame = inference_frame(replace(run, inferences=()))
    assert list(frame.columns) == list(COLUMNS) and len(frame) == 0
