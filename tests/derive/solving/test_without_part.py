"""What runs over several values and has no part in the answer is refused: a picture of it would be a flat line."""

from typing import Any

import pytest

from derive.catalogue import equation
from derive.errors import WrongValue
from derive.solving.api import respond_all, solve
from derive.solving.question.conventions import Switches

SERVED = {"hardware": "H100-SXM:fp8", "model": "Llama-3.1-70B", "chips": 4, "batch": 64, "context_length": "2k", "chip_price": "2.5 USD/h"}
GIVEN = {name: value for name, value in SERVED.items() if name not in ("hardware", "model")}


@pytest.mark.parametrize("shares", [[0.2, 1], "0.2..1:lin:9", "0.2..1:lin:200"])
def test_a_sweep_without_a_part_is_refused_with_what_it_has_a_part_in(shares: Any):
    with pytest.raises(WrongValue, match="throughput does not depend on it: remove it, or ask for fleet_throughput, which"):
        respond_all(["throughput"], {**GIVEN, "fleet_utilisation": shares}, Switches("H100-SXM:fp8", "Llama-3.1-70B"))
    assert solve("throughput", **SERVED, fleet_utilisation=0.2).unused == ("chip_price", "fleet_utilisation")


# -- equations that are named ------------------------------------------------------------------------------------------

WITH_PROMPTS = "serving.requests_per_second_with_prompts"
REQUESTS: dict[str, Any] = {"hardware": "8xH100:fp8", "model": "Llama-3.3-70B", "prompt_tokens": 8000, "output_tokens": 1000, "batch": 64}


@pytest.mark.parametrize(
    ("unknown", "id", "given"),
    [
        ("step_time", WITH_PROMPTS, REQUESTS),
        ("throughput", "cache.read_price_is_retrieve_cost", REQUESTS),
        ("balance_batch", "scheduling.train_period_rule", {"machine_balance_ratio": 300, "sparsity": 8}),
        ("step_time", WITH_PROMPTS, {**REQUESTS, "batch": "32;64"}),
    ],
)
def test_an_equation_that_is_named_for_nothing_is_refused_with_what_it_is_about(unknown: str, id: str, given: dict[str, Any]):
    with pytest.raises(WrongValue, match=f"{id} is not part of {unknown}: it is about .*{equation(id).symbols[0]}"):
        solve(unknown, **given, using=id)


def test_one_that_takes_part_in_an_answer_or_whose_variant_does_is_not_refused():
    for unknown in ("throughput", "cost_per_token", "tokens_per_second_per_user"):
        assert solve(unknown, **REQUESTS, chip_price="2 USD/h", using=WITH_PROMPTS).answers
    known = {name: value for name, value in REQUESTS.items() if name not in ("hardware", "model")}
    both = respond_all(["throughput", "step_time"], known, Switches(REQUESTS["hardware"], REQUESTS["model"], (WITH_PROMPTS,)))
    assert all(one.answers for one in both)
    no_batch = {name: value for name, value in REQUESTS.items() if name != "batch"}
    assert solve("throughput", **no_batch, using=WITH_PROMPTS).answers
    assert solve("chips", **{**no_batch, "hardware": "H100:fp8"}, tpot="<=50ms", batch=8, using=WITH_PROMPTS).answers
