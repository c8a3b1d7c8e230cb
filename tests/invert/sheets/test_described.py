"""What is known of a model that models.csv does not have: by a name of its weights, and by nothing that merely resembles one."""

from dataclasses import replace
from datetime import date

import pytest

from invert.sheets.described import model_row_by_weights
from tests.tools.data import shipped_data
from tests.tools.inferred import current


def sold(model: str, provider: str = "acme"):
    return replace(current()[0].sheet, provider=provider, model=model)


@pytest.mark.parametrize("name", ["openai/gpt-oss-120b", "OpenAI/GPT-OSS-120B", "gpt-oss-120b"])
def test_the_id_of_weights_names_them_whole_or_without_their_owner_in_any_case(name: str):
    found = model_row_by_weights(sold(name), shipped_data())
    assert found and (found.provider, found.model, found.architecture, found.release_date) == (
        "acme", name, "gpt-oss-120b", date(2025, 8, 5)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("glm-5p2", "GLM-5.2"), ("kimi-k2p5", "Kimi-K2.5"), ("qwen-3-32b", "Qwen3-32B"), ("deepseek_v3", "DeepSeek-V3"),
        ("zai-org/GLM-4p7-Flash", "GLM-4.7-Flash"),
    ],
)  # fmt: skip
def test_sellers_write_the_numbers_of_an_id_in_their_own_way(name: str, weights: str):
    found = model_row_by_weights(sold(name), shipped_data())
    assert found and (found.architecture, found.architecture_grade) == (weights, "verified")


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("accounts/fireworks/models/glm-5p2", "GLM-5.2"), ("cf/openai/gpt-oss-120b", "gpt-oss-120b"), ("z-ai/glm-4.7", "GLM-4.7"),
        ("meta-llama/Llama-3.1-8B-Instruct", "Llama-3.1-8B"), ("accounts/fireworks/models/llama-v3p1-405b-instruct", "Llama-3.1-405B"),
        ("FW-Kimi-K3", "Kimi-K3"), ("deepseek.v3-v1:0", "DeepSeek-V3"),
    ],
)  # fmt: skip
def test_the_last_part_of_a_longer_name_and_what_hosts_call_it_are_assumed_to_name_weights(name: str, weights: str):
    found = model_row_by_weights(sold(name), shipped_data())
    assert found and (found.architecture, found.architecture_grade, found.release_grade) == (weights, "assumed", "assumed")


@pytest.mark.parametrize("name", ["gpt-oss-120b-turbo", "gpt-oss", "openai/gpt-oss-120b/ours", "glm-52", "qwen-38b", "/", ""])
def test_what_merely_resembles_an_id_names_nothing(name: str):
    assert model_row_by_weights(sold(name), shipped_data()) is None
