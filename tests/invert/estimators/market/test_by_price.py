"""Which fit reads a sheet, and what is said where its price tells no size."""

from invert import infer
from invert.assumptions import USUAL
from invert.estimators.market.by_price import record_of_size, size_at_price, size_by_price
from tests.tools.data import shipped_data


def case(name):
    (one,) = infer([name]).inferences
    return one


def told(found):
    """The sizes of a price, and their records."""
    return [
        by(found, params, shipped_data(), USUAL) for by in (size_at_price, record_of_size) for params in ("active_params", "total_params")
    ]


def test_the_weights_of_an_open_model_are_nobody_elses_mark_up():
    """MiMo-V2.5-Pro is open: its price is read as a list price, without an extra price/cost and without its own family."""
    one = case("mimo-v2.5-pro")
    found = size_by_price(one.sheet, one.model, shipped_data(), USUAL)
    closed = size_by_price(one.sheet, None, shipped_data(), USUAL)
    assert not found.closed and closed.closed and told(found)[0].median < told(closed)[0].median


def test_the_input_price_is_heard_once():
    """Of a model whose size it tells it enters no likelihood; of one whose size is stated it does."""
    closed, stated = case("gpt-6-sol"), case("qwen3-coder-plus")
    assert closed.anchors.origin["active_params"] == "input price" and not closed.price_data.level_tells
    assert stated.anchors.origin["active_params"].startswith("models.csv") and stated.price_data.level_tells
    given = infer(["gpt-6-sol"], anchors={"active_params": "50B"}).inferences[0]
    assert given.anchors.values["active_params"] == 5e10 and given.price_data.level_tells
