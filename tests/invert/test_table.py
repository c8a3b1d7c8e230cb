"""The result of `infer` in a session: a sequence of inferences that shows itself."""

import pickle
from functools import cache

import pytest

from derive.errors import UnknownName, WrongValue
from invert.inference import infer
from invert.report.table import document
from invert.result import Inference, InferenceTable


@cache
def table() -> InferenceTable:
    return infer(["gpt-5.4", "gemini-3.1-pro", "kimi-k3"])


def test_it_is_a_sequence_of_its_inferences():
    assert len(table()) == 3 and list(table()) == [table()[0], table()[1], table()[-1]] == list(table().inferences)
    assert all(isinstance(one, Inference) for one in table()) and table()[1:] == table().inferences[1:]
    assert table()[0] in table()
    with pytest.raises(IndexError):
        table()[3]


@pytest.mark.parametrize("name", ["gemini-3.1-pro", "gemini-3.1-pro-preview", "GOOGLE/gemini-3.1-pro-preview", "gemini-*"])
def test_a_sheet_is_found_by_any_name_that_infer_takes(name: str):
    assert name in table() and table()[name].name == "google/gemini-3.1-pro-preview"


def test_a_name_of_no_sheet_is_not_in_it():
    assert "gpt-5.5" not in table() and "glm-4.7" not in table() and 5 not in table()


def test_a_name_of_several_models_is_refused_with_their_names():
    with pytest.raises(WrongValue, match=r"2 sheets here are of 'g\*'; select one by its position: 0 \(openai/gpt-5\.4\), 1 \(google/"):
        table()["g*"]


def test_a_name_that_is_not_there_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match=r"did you mean 'openai/gpt-5\.4'"):
        table()["openai/gpt-5.5"]


def test_a_name_of_several_sheets_is_refused_with_their_places():
    several = infer(["deepseek-v4-pro"], tier="all")
    assert len(several) > 1
    with pytest.raises(WrongValue, match=f"{len(several)} sheets here are of 'deepseek/deepseek-v4-pro'; select one by its position: 0 "):
        several["deepseek/deepseek-v4-pro"]


def test_a_notebook_shows_the_table_as_html():
    assert table()._repr_html_() == document(table(), "html") and table()._repr_html_().startswith("<table>")


def test_it_is_stored_and_read_back():
    again = pickle.loads(pickle.dumps(table()))
    assert repr(list(again)) == repr(list(table())) and str(again[1]) == str(table()[1])
    changed = infer("gemini-3.1-pro", changes={"output": "20"})
    assert pickle.loads(pickle.dumps(changed)).before == changed.before != {}
