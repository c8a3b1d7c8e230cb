"""The desk in a page comes to what `derive.solve` comes to, for every kind of model and chip."""

import pytest

from backsolve.site.desk import _START, first_command
from backsolve.site.presets import FIELDS, OWN, OWN_CHIP, OWN_MODEL
from campaigns.desk_script import deployments, told
from campaigns.solver_script import NODE
from derive import solve
from derive.errors import WrongValue
from derive.presets import rent
from derive.show.plot import roof
from derive.solving.question.conventions import Switches
from derive.solving.question.questions import question
from derive.units import show

KINDS = ("Llama-3.1-70B", "Qwen3-235B-A22B", "DeepSeek-V3", "DeepSeek-V3.2", "Qwen3-Next-80B-A3B", "gpt-oss-120b", "Gemma-3-27B")
"""Dense, a mixture, latent attention, selecting attention, states, windows with two widths of weights, windows of a dense model."""

needs_node = pytest.mark.skipif(NODE is None, reason="node, which runs the script of the pages, is not there")


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize("chip", ["H100-SXM:bf16", "B200-SXM:fp4"])
def test_it_is_what_python_comes_to(chip: str) -> None:
    found = deployments([chip], KINDS, [64.0], [100_000.0])
    assert [fault for one in found for fault in one.faults()] == []


@needs_node
def test_what_binds_what_fits_and_where_it_is_under_the_roof() -> None:
    small, large = deployments(["B200-SXM:fp8"], ["Llama-3.1-8B"], [1.0, 4096.0], [20.0])
    assert (small.told["binds"], large.told["binds"]) == ("memory", "arithmetic")
    assert small.solved("memory_time_share") > 0.5 > large.solved("memory_time_share")
    (apart,) = deployments(["H100-SXM:fp8"], ["DeepSeek-V3"], [4000.0], [8000.0])
    assert apart.told["binds"] == "arithmetic" and apart.told["roof"][1] == pytest.approx(FIELDS["mfu"] * 1979e12)
    for one in (small, large, apart):
        under = roof("", one.told["values"])
        assert under and one.told["roof"] == [under.intensity, under.rate]
    most = large.told["most"]
    assert (
        large.solved("memory_per_chip", batch=most)
        <= large.told["values"]["hbm_capacity"]
        < large.solved("memory_per_chip", batch=most + 1)
    )


@needs_node
def test_it_refuses_what_the_command_refuses_and_asks_it_the_same() -> None:
    chip, model = "H100-SXM:fp8", "DeepSeek-V3"
    copies, short, free = told((chip, model, FIELDS | more) for more in ({"kv_replication": 128.0}, {"chips": 2.0}, {"chip_price": None}))
    assert not copies.told["fits"] and copies.told["unmet"] == ["kv_replication = 128: no more than chips = 64"]
    with pytest.raises(WrongValue, match=copies.told["unmet"][0]):
        question("step_time", copies.fields, Switches(chip, model))
    assert not short.told["fits"] and short.told["typed"].endswith(" --anyway") and not free.told["typed"].endswith("--anyway")
    assert "cost_per_token" not in free.told["values"] and not any(name in free.told["typed"] for name in ("cost_per_token", "chip_price"))


@needs_node
def test_an_own_model_on_an_own_chip_is_what_python_comes_to_with_their_numbers() -> None:
    own = OWN["model"] | OWN["hardware"]
    (one,) = told([(f"{OWN_CHIP}:fp8", OWN_MODEL, FIELDS | own)])
    for name in ("step_time", "throughput", "memory_per_chip", "time_to_first_token"):
        assert one.told["values"][name] == pytest.approx(solve(name, given=FIELDS | own, anyway=True).value, rel=1e-9)
    assert "--hardware" not in one.told["typed"] and "--model" not in one.told["typed"] and "active_params=100B" in one.told["typed"]


@needs_node
def test_the_batch_for_a_step_time_is_the_largest_that_meets_it() -> None:
    (one,) = told([("H100-SXM:fp8", "DeepSeek-V3", dict(FIELDS))], wanted=5e-3)
    batch = one.told["batch"]
    assert one.solved("step_time", batch=batch) <= 5e-3 < one.solved("step_time", batch=batch + 1)


def test_without_a_script_it_begins_with_the_rent_of_its_chip() -> None:
    assert f"'chip_price={show('chip_price', rent(_START[0]).givens['chip_price'])}'" in first_command()
