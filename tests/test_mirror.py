"""A test file a module: what derive/x.py defines is tried in tests/derive/test_x.py, but for what is listed here with its reason."""

import ast
from pathlib import Path

import pytest

from tests.tools.parsed import tree_of

ROOT = Path(__file__).parent.parent
PACKAGES = ("backsolve", "derive", "invert", "pricing_data")
TRIED_ELSEWHERE = {
    "backsolve/__init__.py": "the names it lends: tests/test_imports.py, tests/test_typing.py",
    "derive/__init__.py": "the names it lends: tests/test_imports.py, tests/test_typing.py",
    "invert/__init__.py": "the names it lends: tests/test_imports.py, tests/test_typing.py",
    "derive/preset_rows.py": "records of tables, fields alone: all of them, in tests/derive/test_shipped_rows.py",
}
"""Modules that have no test file of their own, and where else they are tried."""


def modules() -> list[Path]:
    return [path.relative_to(ROOT) for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def defines_something(path: Path) -> bool:
    """Whether a module has a function or a class: equations and quantities are data, and each row is tried by the tests of all of them."""
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for node in ast.walk(tree_of(ROOT / path)))


def place_of_tests(module: Path) -> Path:
    """Where the tests of a module stand; those of a package under its name, beside its folder."""
    name = module.parent if module.stem == "__init__" else module.with_suffix("")
    return Path("tests") / name.parent / f"test_{name.name}.py"


def without_tests() -> set[str]:
    return {module.as_posix() for module in modules() if defines_something(module) and not (ROOT / place_of_tests(module)).is_file()}


def test_every_module_has_a_test_file_of_its_name():
    assert without_tests() - set(TRIED_ELSEWHERE) == set()


def test_every_exception_is_one():
    assert set(TRIED_ELSEWHERE) <= without_tests()
    for name, reason in TRIED_ELSEWHERE.items():
        named = [word.strip(",;:") for word in reason.split() if word.strip(",;:").endswith(".py")]
        folder = (ROOT / named[0]).parent
        assert all((ROOT / one).is_file() or (folder / one).is_file() for one in named), name


@pytest.mark.parametrize(
    ("module", "tests"),
    [
        ("derive/units.py", "tests/derive/test_units.py"),
        ("invert/report/flat.py", "tests/invert/report/test_flat.py"),
        ("derive/catalogue/__init__.py", "tests/derive/test_catalogue.py"),
    ],
)
def test_where_the_tests_of_a_module_stand(module: str, tests: str):
    assert place_of_tests(Path(module)) == Path(tests) and (ROOT / tests).is_file()


def test_a_module_that_defines_something_is_seen():
    assert {Path("derive/units.py"), Path("derive/catalogue/sources.py")} <= {module for module in modules() if defines_something(module)}
    assert not defines_something(Path("derive/catalogue/roofline.py")) and len(modules()) > 150
