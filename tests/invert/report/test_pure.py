"""Every form of a result is read off its records: once `infer` has returned, no table is read and nothing is worked out anew.

But for what an inference has of itself when it is first asked for: the pricing rules and what the sheet identifies.
"""

import ast
import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path

import pytest

import invert
from derive.tables import shipped
from invert import report as forms
from invert.inference import infer
from invert.report.columns import WIDE_KEYS
from invert.report.contract import run_as_csv, run_as_json, saved
from invert.report.document import FORMATS, document
from invert.report.glance import glance
from invert.report.sheet import report
from invert.result import InferenceTable
from invert.sheets.tables import ModelRow
from tests.tools.parsed import tree_of

SHEETS = ("gemini-3.1-pro", "qwen3-coder-plus", "claude-opus-5", "kimi-k3", "deepseek/deepseek-v4-pro")
"""Two bands and storage, four bands, two lifetimes, lifetimes that make no tariff, another currency."""
FORMS: dict[str, Callable[[InferenceTable], object]] = {
    "wide": lambda table: glance(table, 100, WIDE_KEYS),
    "str": str,
    "repr": repr,
    "report": lambda table: [report(one, table) for one in table],
    "json": run_as_json,
    "csv": run_as_csv,
    "saved": saved,
    "frame": InferenceTable.to_frame,
    "notebook": InferenceTable._repr_html_,
    **{style: lambda table, style=style: document(table, style) for style in FORMATS},
}
WORKING = ("anchors", "data", "estimators", "identify", "posterior", "priors", "rent", "sheets",
           "storage", "forward_model", "validation", "worth", "inference")  # fmt: skip
"""The modules and packages in which a result is worked out."""


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("a form of the result worked something out")


def working_modules() -> list[str]:
    found = [info.name for info in pkgutil.walk_packages(invert.__path__, "invert.")]
    return [name for name in found if name.split(".")[1] in WORKING]


@pytest.fixture
def poisoned(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """After it is called neither a table can be read nor a function called of the modules that work a result out."""

    def poison() -> None:
        # Before anything is refused: a module that is first imported then would keep what is refused.
        modules = {name: importlib.import_module(name) for name in working_modules()}
        for name in ("read", "rows_of", "content", "problems"):
            monkeypatch.setattr(shipped, name, refuse)
        for name in ("rows_of", "raw_rows", "content", "checked", "refuse_bad"):
            monkeypatch.setattr(shipped.Tables, name, refuse)
        for name, module in modules.items():
            for own, value in list(vars(module).items()):
                if callable(value) and not isinstance(value, type) and getattr(value, "__module__", None) == name:
                    monkeypatch.setattr(module, own, refuse)

    return poison


@pytest.mark.parametrize("asked", [{}, {"anchors": {"kv_bytes_per_token": "70kB"}}], ids=["usual", "KV given"])
def test_every_form_is_read_off_the_records(asked: dict, poisoned: Callable[[], None]):
    table = infer(SHEETS, **asked)
    assert all(one.identifiability and bool(one.rules) == bool(one.pairs) for one in table)
    assert sum(one.swings is not None for one in table) == sum(one.kv_bytes["one_markup"].kind == "interval" for one in table if one.pairs)
    poisoned()
    with pytest.raises(AssertionError, match="worked something out"):
        shipped.rows_of(ModelRow)
    for name, form in FORMS.items():
        assert form(table) is not None, name


def test_what_an_inference_is_asked_for_later_rests_on_its_fields_alone(monkeypatch: pytest.MonkeyPatch):
    table, again = infer(SHEETS), infer(SHEETS)
    early = [(one.identifiability, one.rules and one.rules.solutions) for one in table]
    for name in ("_content",):
        monkeypatch.setattr(shipped, name, refuse)
    with pytest.raises(AssertionError, match="worked something out"):
        infer(SHEETS)
    assert [(one.identifiability, one.rules and one.rules.solutions) for one in again] == early


def test_the_poison_is_met_by_whoever_works_something_out(poisoned: Callable[[], None]):
    poisoned()
    with pytest.raises(AssertionError, match="worked something out"):
        infer(["gemini-3.1-pro"])


ALLOWED = (
    "derive.briefly",
    "derive.catalogue",
    "derive.immutable",
    "derive.quantities",
    *(
        "invert.assumptions",
        "invert.estimate_text",
        "invert.estimators.names",
        "invert.comparison_records",
        "invert.encoder",
        "invert.provenance",
        "invert.records",
        "invert.sheets.rows",
        "invert.sheets.sheet",
        "invert.result",
        "invert.supposed",
    ),
    *("invert.report", "derive.show", "derive.characters", "derive.files", "derive.units", "derive.errors", "derive.solving.result"),
)


def imports_of(path: Path) -> list[str]:
    """The modules of ours that one imports anywhere."""
    names = []
    for node in ast.walk(tree_of(path)):
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return [name for name in names if name.split(".")[0] in ("derive", "invert", "backsolve")]


def test_reports_lean_on_records_alone():
    (folder,) = forms.__path__
    modules = sorted(Path(folder).glob("*.py"))
    assert len(modules) > 5
    leaning = {path.name: [name for name in imports_of(path) if not within(name, ALLOWED)] for path in modules}
    assert {name: found for name, found in leaning.items() if found} == {}


def within(name: str, allowed: tuple[str, ...]) -> bool:
    return f"{name}.".startswith(tuple(f"{start}." for start in allowed))
