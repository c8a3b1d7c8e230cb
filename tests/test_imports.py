"""What importing the packages and running the light commands costs, and which names are public."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import backsolve
import derive
import invert
from derive import VERSION
from tests.tools.commands import GEMINI, STAR
from tests.tools.parsed import tree_of

PACKAGES = (backsolve, derive, invert)
ROOT = Path(backsolve.__file__).parent.parent
HEAVY = {"sympy", "numpy", "scipy", "pandas"}
SOLVER = {"derive.solving", "derive.expressions", "invert.records", "invert.assumptions"}
"""What asks and answers a question: to read prices nobody needs it."""
LIGHT = (
    ("--help",), ("--version",), ("list",), ("list", "--chapter", "bands"), ("list", "--symbol", "batch"), ("list", "--hardware"),
    ("list", "--models"), ("list", "--quantities"), ("prices", "list"), ("prices", "list", "--all"), ("infer", "--help"),
    ("prices", "list", "--as", "csv"), ("prices", "diff", "2026-03-12", "shipped"), ("solve", "--help"), ("prices", "pull", "--help"),
)  # fmt: skip
INFER = (("infer",), ("infer", "--as", "json"), ("infer", "--as", "csv"), ("infer", "--as", "html"), GEMINI)
DENSE = ("bytes_per_weight=2", "bytes_per_element=2")
QUICK = (
    ("solve", "balance_batch", "--hardware", "H100:fp8", "--model", "DeepSeek-V3"),
    ("solve", "step_time", "--hardware", "8xH100:bf16", "--model", "Llama-3.1-70B", *DENSE, "batch=32", "ctx=8k"),
    ("solve", "ttft", "--hardware", "8xH100:bf16", "--model", "Llama-3.1-70B", "bytes_per_weight=2", "isl=8k", "mfu=0.5"),
    ("cite", "roofline.step_time"), ("cite", "roofline.step_time", "--as", "bibtex"), ("show", "batching.balance_batch"),
)  # fmt: skip
"""Questions, and equations to read, that need closed forms alone."""
BLOCKS = (
    ("solve", "batch", "--hardware", "8xH100:bf16", "--model", "Llama-3.1-70B", *DENSE, "ctx=8k", "memory_time_share=0.9"),
    ("solve", "batch", "--hardware", "8xH100:bf16", "--model", "Llama-3.1-70B", *DENSE, "ctx=8k", "tpot=15ms"),
)
"""Questions that only several equations together answer."""
COMMANDS = """
from backsolve.__main__ import main
for command in {!r}:
    sys.argv = ["backsolve", *command]
    try:
        main()
    except SystemExit as left:
        assert not left.code, (command, left.code)
    seen(command)
"""
WALLS = [  # code, modules that it must not import
    ("import backsolve, derive, invert; dir(backsolve); dir(derive); dir(invert)", HEAVY | {"click", "tabulate", "importlib.metadata"}),
    ("import derive; import derive.solving.limits.answering", {"scipy", "pandas"}),
    ("import invert; invert.load()", HEAVY),
    (COMMANDS.format([("prices", "list"), ("prices", "list", "--all")]), HEAVY | SOLVER),
    (COMMANDS.format(LIGHT), HEAVY),
    (COMMANDS.format(INFER), {"pandas", "scipy.stats", "sympy"}),
    (COMMANDS.format(QUICK), HEAVY | {"mpmath"}),
    (COMMANDS.format(BLOCKS), {"pandas", "scipy", "sympy"}),
    (COMMANDS.format([(*STAR, "rho=300", "s=8")]), {"pandas", "scipy"}),
]
PROBE = """
import sys
def seen(what):
    found = [name for name in {walled!r} if name in sys.modules]
    if found:
        sys.exit(f"{{what}} imports {{found}}")
{code}
seen({code!r})
"""


@pytest.mark.slow
def test_import_walls():
    """Each in a fresh interpreter, all started at once."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROBE.format(walled=sorted(walled), code=code)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for code, walled in WALLS
    ]
    found = [(process.communicate(timeout=60)[1], process.returncode) for process in started]
    assert found == [("", 0)] * len(WALLS)


def test_the_public_names_are_pinned():
    assert dir(derive) == ["Answer", "Equation", "Solution", "cite", "equation", "equations", "solve", "symbols"]
    assert dir(invert) == ["Assumptions", "Estimate", "Inference", "InferenceTable", "forward", "infer", "load"]
    assert dir(backsolve) == ["__version__", "cite", "infer", "solve"]
    assert all(callable(getattr(package, name)) for package in PACKAGES for name in dir(package) if name not in ("__version__", "symbols"))
    assert backsolve.__version__ == VERSION
    for package in PACKAGES:
        with pytest.raises(AttributeError, match="nothing"):
            _ = package.nothing


@pytest.mark.slow
def test_the_libraries_know_neither_the_program_nor_what_it_is_written_with():
    for package in (derive, invert):
        for path in Path(package.__file__).parent.rglob("*.py"):
            for node in ast.walk(tree_of(path)):
                names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                assert not {name.partition(".")[0] for name in names} & {"backsolve", "click"}, f"{path}:{node.lineno}"


def imported(path: Path, modules: dict[str, Path]) -> set[str]:
    """The modules of ours that one imports at any time, inside functions too; what only a type checker reads is left out."""
    queue, found = [tree_of(path)], set()
    while queue:
        node = queue.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        queue += ast.iter_child_nodes(node)
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {whole if (whole := f"{node.module}.{one.name}") in modules else node.module for one in node.names}
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
    return found & modules.keys()


@pytest.mark.slow
def test_no_module_needs_one_that_needs_it():
    """Also where the import stands inside a function, at which a program would start well and fail later."""
    needed = needs()
    tuple(TopologicalSorter(needed).static_order())


NEVER = {
    "derive.quantities": {"derive.catalogue", "derive.expressions", "derive.show", "derive.solving"},
    "derive.catalogue": {"derive.expressions", "derive.show", "derive.solving"},
    "derive.expressions": {"derive.show", "derive.solving"},
    "derive.show": {"derive.solving"},
    "derive.solving": {"derive.show"},
    "invert.sheets": {"invert.estimators", "invert.posterior", "invert.report", "invert.storage"},
    "invert.posterior": {"invert.estimators", "invert.report"},
    "invert.estimators": {"invert.report"},
    "invert.storage": {"invert.report"},
    "invert.records": {"invert.estimators", "invert.identify", "invert.report", "invert.storage"},
    "invert.result": {"invert.inference", "invert.report"},
}
"""Rooms and modules, and those above them, of which they need nothing."""
SHOWS_ITSELF = {"derive.solving.result": "derive.show", "invert.result": "invert.report"}
"""A solution and an inference show themselves at a prompt and in a notebook, so that their modules alone need what shows answers."""


@pytest.mark.slow
def test_no_room_leans_on_one_above_it():
    wrong = [
        (name, other)
        for name, needed in needs().items()
        for other in needed
        if any(is_in(name, room) and is_in(other, above) for room, over in NEVER.items() for above in over)
        and not is_in(other, SHOWS_ITSELF.get(name, "-"))
    ]
    assert wrong == []


def is_in(name: str, room: str) -> bool:
    """Whether a module is this one, or stands in it."""
    return f"{name}.".startswith(f"{room}.")


def needs() -> dict[str, set[str]]:
    files = [path for package in PACKAGES for path in Path(package.__file__).parent.rglob("*.py")]
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in files}
    return {name: imported(path, modules) for name, path in modules.items()}
