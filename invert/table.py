"""The result of `infer` as it shows itself: in a terminal, in a notebook, as a pandas table."""

from shutil import get_terminal_size
from typing import TYPE_CHECKING, overload

from derive.errors import UnknownName, WrongValue, shorten
from invert.report.document import document
from invert.report.table import WIDEST, count, summary
from invert.result import Inference, Run

if TYPE_CHECKING:
    from pandas import DataFrame


class InferenceTable(Run):
    """What `infer` hands back: one inference a sheet, by position or by "provider/model", and all that the run shares.

    `str()` is the table that a terminal shows.

    >>> from invert.inference import infer
    >>> table = infer(["gemini-3.1-pro", "gpt-5.4"])
    >>> table
    InferenceTable(2 sheets, prices of 2026-11-20)
    >>> len(table), [one.name for one in table]
    (2, ['google/gemini-3.1-pro-preview', 'openai/gpt-5.4'])
    >>> table["openai/gpt-5.4"] is table[1]
    True
    """

    @overload
    def __getitem__(self, place: int | str) -> Inference: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Inference, ...]: ...
    def __getitem__(self, place: int | str | slice) -> Inference | tuple[Inference, ...]:
        if not isinstance(place, str):
            return self.inferences[place]
        found = {at: one for at, one in enumerate(self.inferences) if one.name == place}
        if not found:
            raise UnknownName("sheet", place, [one.name for one in self.inferences])
        if len(found) > 1:
            where = ", ".join(f"{at} ({one.sheet.service_tier})" for at, one in found.items())
            raise WrongValue(f"{len(found)} sheets here are of {shorten(place)}; take one by its position: {where}")
        return next(iter(found.values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({count(self)}, prices of {self.as_of})"

    def __str__(self) -> str:
        return summary(self, get_terminal_size((WIDEST, 0)).columns)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return document(self, "html")

    def to_frame(self) -> "DataFrame":
        """One row a sheet, as a pandas table."""
        # pandas takes longer to load than the whole of infer.
        from invert.report.frame import inference_frame

        return inference_frame(self)
