"""Reports as pages set them: no line of a report is lost, and tables are tables."""

from backsolve.site.parts import blocks_of, sections_of
from invert.report.layout import Heading, Table
from invert.report.sheet import full_parts
from invert.result import InferenceTable


def test_every_line_of_a_report_is_in_a_section(some_sheets: InferenceTable):
    for one in some_sheets:
        parts = full_parts(one, some_sheets)
        first = next(place for place, part in enumerate(parts) if isinstance(part, Heading))
        blocks = [block for section in sections_of(parts) for block in blocks_of(section.parts)]
        lines = [line for part in parts[first:] if not isinstance(part, Heading | Table) for line in part.split("\n") if line.strip()]
        assert [line for kind, found in blocks if kind != "table" for line in found] == lines
        assert [table for kind, found in blocks if kind == "table" for table in found] == [
            part for part in parts[first:] if isinstance(part, Table)
        ]
        assert len({section.anchor for section in sections_of(parts)}) == len(sections_of(parts))
