"""Inferences as pandas tables: the only module that imports pandas."""

from pandas import DataFrame

from invert.report.flat import COLUMNS, flat
from invert.result import Run


def inference_frame(table: Run) -> DataFrame:
    """One row a sheet, the first pair of bands, SI units; what does not exist is missing.

    >>> from invert.inference import infer
    >>> frame = inference_frame(infer(["gemini-3.1-pro"]))
    >>> float(frame["kv_bytes_per_token_lecture"].round(1).iloc[0])
    1666.7
    """
    return DataFrame([flat(one) for one in table.inferences], columns=list(COLUMNS))
