"""What is known of a model that models.csv does not have: by the id of its weights, and by nothing that merely resembles it."""

import io
from dataclasses import replace
from datetime import date

import pytest

from derive import shipped
from invert.data import read_data
from invert.inference import infer
from invert.sheets.assemble import models
from invert.sheets.described import by_weights, described
from tests.tools.data import shipped_data
from tests.tools.inferred import current
from tests.tools.tables import reading

HEAD = "provider,model,component,amount\n"


def sold(model: str, provider: str = "acme"):
    return replace(current()[0].sheet, provider=provider, model=model)


@pytest.mark.parametrize("name", ["openai/gpt-oss-120b", "OpenAI/GPT-OSS-120B", "gpt-oss-120b"])
def test_the_id_of_weights_names_them_whole_or_without_their_owner_in_any_case(name: str):
    found = by_weights(sold(name), shipped_data())
    assert found and (found.provider, found.model, found.architecture, found.release_date) == (
        "acme", name, "gpt-oss-120b", date(2025, 8, 5)
    )  # fmt: skip


@pytest.mark.parametrize("name", ["gpt-oss-120b-turbo", "gpt-oss", "host/openai/gpt-oss-120b", "cf/gpt-oss-120b", ""])
def test_what_merely_resembles_an_id_names_nothing(name: str):
    assert by_weights(sold(name), shipped_data()) is None


def test_an_id_of_several_weights_names_none_of_them():
    text = shipped.content("architectures.csv").decode()
    with reading(shipped.read().edited(architectures=text.replace("openai/gpt-oss-20b", "another/gpt-oss-120b"))):
        assert by_weights(sold("gpt-oss-120b"), read_data()) is None
        assert by_weights(sold("openai/gpt-oss-120b"), read_data())


def test_a_host_is_not_the_maker():
    assert not by_weights(sold("openai/gpt-oss-120b", "arcee"), shipped_data()).first_party
    assert by_weights(sold("gpt-oss-120b", "openai"), shipped_data()).first_party


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
