"""The script that draws trees in a page draws them as Python does, to the letter."""

import json
import subprocess
from collections.abc import Iterator
from shutil import which

import pytest

from backsolve.site.formulas import solvable
from backsolve.site.writing import HERE
from derive.catalogue import by_id
from derive.quantities import QUANTITIES
from derive.show.mathml import symbol_in_mathml, tree_in_mathml
from derive.trees import Tree, tree_of
from tests.tools.together import some

NODE = which("node")
DRAW = """
const {{ inMathml }} = require({script});
const {{ trees, symbols }} = JSON.parse(require("node:fs").readFileSync(0));
process.stdout.write(JSON.stringify(trees.map((tree) => inMathml(tree, symbols))));
"""
WRITTEN = (
    *("1 - batch/chips", "chips*(-batch)", "batch*2", "batch*(-2)", "-2*batch/chips", "(batch - 1)**(1/3)", "batch**(1/2)", "-batch"),
    *("balance_batch**2", "active_params**2", "(1/batch)**chips", "1*batch*1/1", "1*1", "log(batch)", "exp(batch)", "-1", "1*1/2"),
    *("Max(batch, 1/chips)*Min(batch, 2)", "batch - 1*(chips - 1)", "batch**(-chips)", "batch**(2*chips/3)", "sqrt(batch + chips)*2"),
)


def drawn_in_pages(step: int) -> Iterator[Tree]:
    """The trees that the pages of every so many equations draw."""
    for row in some(by_id().values(), every=step):
        data = solvable(row)
        yield data["right"]
        yield from (form["tree"] for branches in data["roots"].values() for forms in branches for form in forms or ())
        yield from (pair[side] for regime in data["regimes"] for pair in regime["wins"] for side in ("larger", "smaller"))
        yield from (needed[side] for needed in data["requires"] for side in ("larger", "smaller"))


def compare(trees: list[Tree]) -> None:
    asked = {"trees": trees, "symbols": {name: symbol_in_mathml(name) for name in QUANTITIES}}
    script = DRAW.format(script=json.dumps(str(HERE / "assets" / "mathml.js")))
    done = subprocess.run([NODE or "", "-e", script], input=json.dumps(asked), capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [tree_in_mathml(tree) for tree in trees]


@pytest.mark.skipif(NODE is None, reason="node is not here")
def test_trees_are_drawn_as_python_draws_them():
    trees = [*map(tree_of, WRITTEN), *drawn_in_pages(step=10)]
    assert len(trees) > 200
    compare(trees)


@pytest.mark.slow
@pytest.mark.skipif(NODE is None, reason="node is not here")
def test_every_tree_of_every_page_is_drawn_as_python_draws_it():
    compare([*drawn_in_pages(step=1)])
