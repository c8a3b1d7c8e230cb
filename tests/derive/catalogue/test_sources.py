"""The works that are cited: each by an equation, and the lecture by the second."""

import pytest

from derive.catalogue import by_id, sources
from derive.catalogue.sources import talk
from derive.records import Source

WORKS = {name: value for name, value in vars(sources).items() if isinstance(value, Source)}


def test_every_work_is_cited_by_an_equation():
    cited = {(one.title, one.url) for row in by_id().values() for one in row.sources}
    assert WORKS and {name for name, work in WORKS.items() if (work.title, work.url) not in cited} == set()


@pytest.mark.parametrize(("start", "end", "seconds"), [("0:00:07", "0:01:00", (7, 60)), ("1:02:03", "1:59:59", (3723, 7199))])
def test_the_lecture_is_cited_by_the_second(start: str, end: str, seconds: tuple[int, int]):
    one = talk(start, end, "a sentence")
    assert (one.start, one.end) == seconds and one.said == "a sentence"
