"""What is known of a model that models.csv does not have: by a name of its weights, and by nothing that merely resembles one."""

import io
from dataclasses import replace
from datetime import date

import pytest

from derive.preset_rows import OpenModel
from derive.tables import shipped
from invert.data import read_data
from invert.inference import infer
from invert.sheets.assemble import models
from invert.sheets.described import described, model_row_by_weights
from invert.sheets.tables import HostPrice
from tests.tools.data import shipped_data
from tests.tools.inferred import current
from tests.tools.tables import reading

HEAD = "provider,model,component,amount\n"


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


def test_the_names_at_hosts_are_those_of_the_table():
    """Each name that host_prices.csv has of a model of known architecture means this one, or its own weights where an id says so."""
    models = {row.model: row.architecture for row in shipped.rows_of(OpenModel)}
    hosted = [(row.price_id, models[row.model]) for row in shipped.rows_of(HostPrice) if row.price_id and models[row.model]]
    found = {name: model_row_by_weights(sold(name), shipped_data()) for name, _ in hosted}
    assert len(hosted) > 400 and not [name for name, one in found.items() if one is None]
    other = {name for name, weights in hosted if found[name].architecture != weights}
    assert {found[name].architecture for name in other} == {"GLM-5.1"}, "a row of two releases, GLM-5/5.1"


@pytest.mark.parametrize("name", ["gpt-oss-120b-turbo", "gpt-oss", "openai/gpt-oss-120b/ours", "glm-52", "qwen-38b", "/", ""])
def test_what_merely_resembles_an_id_names_nothing(name: str):
    assert model_row_by_weights(sold(name), shipped_data()) is None


def test_an_id_of_several_weights_names_none_of_them():
    text = shipped.content("architectures.csv").decode()
    with reading(shipped.read().edited(architectures=text.replace("openai/gpt-oss-20b", "another/gpt-oss-120b"))):
        assert model_row_by_weights(sold("gpt-oss-120b"), read_data()) is None
        assert model_row_by_weights(sold("openai/gpt-oss-120b"), read_data())


def test_a_host_is_not_the_maker():
    assert not model_row_by_weights(sold("openai/gpt-oss-120b", "arcee"), shipped_data()).first_party
    assert model_row_by_weights(sold("gpt-oss-120b", "openai"), shipped_data()).first_party
    assert not model_row_by_weights(sold("GLM-5.2", "mistral"), shipped_data()).first_party, "one maker sells what another made"
    makers = {"zai": "GLM-5.2", "zhipu-bigmodel": "glm-5.2", "alibaba": "qwen3-32b", "moonshotai": "kimi-k2.6", "meta": "Llama-3.1-8B"}
    assert all(model_row_by_weights(sold(name, provider), shipped_data()).first_party for provider, name in makers.items())


def test_models_csv_goes_before():
    row = next(one for one in models(shipped_data()) if one.architecture)
    sheets = [sold(row.model, row.provider), sold("gpt-oss-120b"), sold("gpt-oss-120b")]
    assert len(described(sheets, shipped_data())) == len(models(shipped_data())) + 1


def test_a_sheet_named_so_has_release_cache_and_parameters():
    names = ("openai/gpt-oss-120b", "gpt-oss-ours")
    rows = "".join(f"acme,{name},{component},{amount}\n" for name in names for component, amount in (("input", 0.1), ("output", 0.5)))
    named, other = infer(["acme/openai/gpt-oss-120b", "acme/gpt-oss-ours"], prices=io.StringIO(HEAD + rows))
    assert named.release_known and named.known and named.known.architecture == "gpt-oss-120b"
    assert named.anchors.origin["active_params"] == "architectures.csv"
    assert not other.release_known and other.known is None
