"""The result of `infer` as it shows itself: in a terminal, in a notebook, as a pandas table."""

from collections.abc import Iterator
from dataclasses import field, fields
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, overload

from derive.briefly import Records, cut
from derive.errors import UnknownName, WrongValue, shorten
from derive.immutable import immutable
from invert import result
from invert.estimate_text import estimate_text
from invert.report.columns import CSV_KEYS, flat
from invert.report.document import document, report_document
from invert.report.glance import glance
from invert.report.sheet import report
from invert.report.short import short_parts, short_report
from invert.report.table import WIDEST, count
from invert.result import Run
from invert.sheets.assemble import matches

if TYPE_CHECKING:
    from pandas import DataFrame


@immutable
class Inference(result.Inference):
    """What one sheet implies, with the run it is of, so that it can show itself.

    At a prompt it is a line with its headline, printed what `backsolve infer MODEL` says, which a notebook shows too; `full` is
    the whole report.
    """

    run: Run = field(compare=False)

    def __repr__(self) -> str:
        tier = "" if self.sheet.service_tier == "standard" else f" ({self.sheet.service_tier})"
        return cut(
            f"Inference({self.name}{tier} on {self.sheet.as_of}: KV {estimate_text('kv_bytes_per_token', self.kv_bytes['headline'])})"
        )

    def __str__(self) -> str:
        return short_report(self, self.run, _width())

    @property
    def full(self) -> str:
        """Every reading with its numbers, how firmly, and what the prices can tell at all."""
        return report(self, self.run, _width())

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return report_document(short_parts(self, self.run), "html")


class InferenceTable(Run):
    """What `infer` hands back: one inference a sheet, by position or by any name that `infer` takes, and all that the run shares.

    `str()` is the table that a terminal shows, every sheet a line.

    >>> from invert.inference import infer
    >>> table = infer(["gemini-3.1-pro", "gpt-5.4"])
    >>> table
    InferenceTable(2 sheets, prices of 2026-11-20)
    >>> len(table), [one.name for one in table]
    (2, ['google/gemini-3.1-pro-preview', 'openai/gpt-5.4'])
    >>> table["openai/gpt-5.4"] is table["gpt-5.4"] is table[1]
    True
    >>> table[0]
    Inference(google/gemini-3.1-pro-preview on 2026-11-20: KV 49 kB (7.3-330))
    """

    inferences: tuple[Inference, ...]

    def __iter__(self) -> Iterator[Inference]:
        return iter(self.inferences)

    @overload
    def __getitem__(self, place: int | str) -> Inference: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Inference, ...]: ...
    def __getitem__(self, place: int | str | slice) -> Inference | tuple[Inference, ...]:
        if not isinstance(place, str):
            return self.inferences[place]
        found = self._called(place)
        if not found:
            raise UnknownName("sheet", place, [one.name for one in self.inferences])
        if len(found) > 1:
            several = len({one.name for one in found.values()}) > 1
            where = ", ".join(f"{at} ({one.name if several else one.sheet.service_tier})" for at, one in found.items())
            raise WrongValue(f"{len(found)} sheets here are of {shorten(place)}; take one by its position: {where}")
        return next(iter(found.values()))

    def __contains__(self, one: object) -> bool:
        return bool(self._called(one)) if isinstance(one, str) else one in self.inferences

    def _called(self, name: str) -> dict[int, Inference]:
        """The inferences that a name means, by their positions."""
        pairs = {at: (one.sheet.provider, one.sheet.model) for at, one in enumerate(self.inferences)}
        aliases = {pairs[at]: one.model.aliases for at, one in enumerate(self.inferences) if one.model}
        meant = matches(name, [*dict.fromkeys(pairs.values())], aliases)
        return {at: self.inferences[at] for at, pair in pairs.items() if pair in meant}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({count(self)}, prices of {self.as_of})"

    def __str__(self) -> str:
        return glance(self, _width())

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return document(self, "html")

    def to_frame(self) -> "DataFrame":
        """One row a sheet, as a pandas table."""
        # pandas takes longer to load than the whole of infer.
        from pandas import DataFrame

        return DataFrame([flat(one) for one in self], columns=list(CSV_KEYS))


def as_table(run: Run) -> InferenceTable:
    """A run as `infer` hands it out: it and each of its inferences show themselves."""
    inferences = Records(Inference(**_fields(one), run=run) for one in run)
    return InferenceTable(**{**_fields(run), "inferences": inferences})


def _fields(record: result.Inference | Run) -> dict[str, Any]:
    return {one.name: getattr(record, one.name) for one in fields(record)}


def _width() -> int:
    """Columns of the terminal, or of a page where there is none."""
    return get_terminal_size((WIDEST, 0)).columns
