"""The results of `infer`: inferences and tables that print themselves at a prompt and in a notebook."""

from shutil import get_terminal_size
from typing import TYPE_CHECKING

from derive.errors import WrongValue
from derive.immutable import immutable
from invert import result

if TYPE_CHECKING:
    from pandas import DataFrame

_PAGE = 100
"""Width of a page without a terminal."""


@immutable
class Inference(result.Inference):
    """An inference that prints itself: `str()` is the text of `backsolve infer MODEL`, and `full` is the full report.

    >>> from invert.inference import infer
    >>> str(infer("gemini-3.1-pro")[0]).splitlines()[0][:37]
    'google gemini-3.1-pro-preview (standa'
    """

    def __str__(self) -> str:
        from invert.report.layout import laid_out
        from invert.report.sheet import short_parts

        return laid_out(short_parts(self, self._run()), _width())

    @property
    def full(self) -> str:
        """Every reading with its numbers and its record, and the quantities that the prices can determine."""
        from invert.report.layout import laid_out
        from invert.report.sheet import full_parts

        return laid_out(full_parts(self, self._run()), _width())

    def _repr_html_(self) -> str:
        from invert.report.document import report_document
        from invert.report.sheet import short_parts

        return report_document(short_parts(self, self._run()), "html")

    def _run(self) -> result.Run:
        if self.run is None:
            raise WrongValue("an inference can only be shown as a part of the table that infer returns")
        return self.run


@immutable
class InferenceTable(result.InferenceTable[Inference]):
    """The result of `infer`, which prints itself: `str()` is the table for a terminal, with a row for every sheet.

    >>> from invert.inference import infer
    >>> table = infer(["gemini-3.1-pro", "gpt-5.4"])
    >>> len(table), table["openai/gpt-5.4"] is table[1], len(table.to_frame())
    (2, True, 2)
    """

    def __str__(self) -> str:
        from invert.report.glance import glance

        return glance(self, _width())

    def _repr_html_(self) -> str:
        from invert.report.document import document

        return document(self, "html")

    def to_frame(self) -> "DataFrame":
        """Return a pandas table with one row per sheet."""
        # pandas takes longer to load than the whole of infer.
        from pandas import DataFrame

        from invert.report.columns import CSV_KEYS, flat

        return DataFrame([flat(one) for one in self], columns=list(CSV_KEYS))


def _width() -> int:
    """Return the columns of the terminal, or of a page if there is no terminal."""
    return get_terminal_size((_PAGE, 0)).columns
