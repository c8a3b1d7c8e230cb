"""`infer MODEL --suppose`: the prices of a supposed model beside the published ones."""

import json

import pytest

from tests.tools.commands import call

SUPPOSED = ("gemini-3.1-pro", "--suppose", "kv_bytes_per_token=49kB", "active_params=45B")


def test_every_price_has_a_prediction_with_its_residual():
    (found,) = json.loads(call("infer", *SUPPOSED, "--as", "json").out)
    assert found["supposed"] == {"kv_bytes_per_token": 49e3, "active_params": 45e9}
    by_place = {(row["component"], row["threshold_tokens"]): row for row in found["prices"]}
    assert [by_place[name, 0]["residual"] for name in ("input", "output")] == [0, 0]
    above = by_place["output", 200_000]
    assert above["residual"] == pytest.approx(above["predicted"] / above["published"] - 1) and above["residual"] > 1


def test_what_is_not_supposed_is_as_estimated():
    one = json.loads(call("infer", "gemini-3.1-pro", "--as", "json").out)[0]["estimates"]
    size, kv = one["active_params"]["by_price"]["median"], one["kv_bytes_per_token"]["typical"]["median"]
    for words, assumed in ((["active_params=45B"], {"kv_bytes_per_token": kv}), ([f"kv_bytes_per_token={kv}"], {"active_params": size})):
        (found,) = json.loads(call("infer", "gemini-3.1-pro", "--suppose", *words, "--as", "json").out)
        assert found["assumed"] == pytest.approx(assumed, rel=1e-5)
    (both,) = json.loads(call("infer", *SUPPOSED, "--as", "json").out)
    (known,) = json.loads(call("infer", "kimi-k3", "--suppose", "bandwidth_bound_fraction=0.5", "--as", "json").out)
    assert both["assumed"] == {} and known["assumed"] == {"active_params": 1.01e11, "kv_bytes_per_token": 27648.0}


def test_a_supposed_fraction_predicts_the_output_price():
    words = ("--suppose", "kv_bytes_per_token=1kB", "bandwidth_bound_fraction=0.5", "--as", "json")
    (found,) = json.loads(call("infer", "gemini-3.1-pro", *words).out)
    base, above = (row for row in found["prices"] if row["component"] == "output")
    assert (base["used"], base["predicted"]) == (False, pytest.approx(4.0))
    # A ratio of 2 has a memory time of 2 at the short context. The long one adds the reads of 352,000 tokens at L* = 2 N_a/(kv*600).
    assert above["predicted"] == pytest.approx(2 * (2 + 352e3 * 1e3 * 600 / (2 * 63.03e9)), rel=0.01)


def test_a_model_without_a_cache_has_one_price_for_all_lengths():
    (found,) = json.loads(call("infer", "gemini-3.1-pro", "--suppose", "kv_bytes_per_token=0", "--as", "json").out)
    predicted = {(row["component"], row["threshold_tokens"]): row["predicted"] for row in found["prices"]}
    assert predicted["output", 200_000] == pytest.approx(predicted["output", 0])
    assert predicted["cache_storage", 0] == predicted["cache_read", 0] == 0


@pytest.mark.parametrize(
    ("words", "status", "printed"),
    [
        (("claude-opus-5-5", "--suppose", "kv_bytes_per_token=49kB"), 0, "cache read"),
        (("MiniMax-M3", "--suppose", "kv_bytes_per_token=20736", "--as", "json"), 3, "[]"),
        (("MiniMax-M3", "--as-of", "2020-01-01", "--as", "json"), 3, "[]"),
        (("MiniMax-M3", "--suppose", "kv_bytes_per_token=1kB", "storage_tier=hbm"), 2, ""),
        (("MiniMax-M3", "--suppose", "kv_bytes_per_token=1kB", "bandwidth_bound_fraction=1"), 2, ""),
    ],
)
def test_every_price_is_named_and_a_question_without_an_answer_has_empty_json(words: tuple[str, ...], status: int, printed: str):
    found = call("infer", *words)
    assert found.status == status and printed in found.out


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("output_input_ratio=5", "--set changes it; did you mean 'bandwidth_bound_fraction'?"),
        ("long_context_threshold=100k", "--set changes it; did you mean 'kv_bytes_per_token'?"),
        ("total_params=1T", "no predicted price depends on it; did you mean 'active_params'?"),
        ("hbm_bandwidth=3e12", "no predicted price depends on it"),
    ],
)
def test_a_quantity_without_effect_is_refused(typed: str, said: str):
    found = call("infer", "gemini-3.1-pro", "--suppose", typed)
    assert found.status == 2 and said in found.err and "allowed: kv_bytes_per_token" in found.err
