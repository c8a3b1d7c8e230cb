"""Presets set what the tables say, name what they cannot do, and never set what decision 12 forbids."""

from contextlib import suppress
from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive import presets
from derive.catalogue import by_id, equation
from derive.errors import BacksolveError, NotCovered, UnknownName, WrongData, WrongValue
from derive.presets import Preset, as_published, hardware, hardware_names, model, model_names, table
from derive.quantities import QUANTITIES
from derive.records import CHAINED_BY_ITSELF
from derive.shipped_rules import LINKS
from derive.solving.api import solve

HARDWARE_HEADER = "accelerator,quantity,dtype,value,unit,preferred,source,verification,notes"
HARDWARE = """
H100-SXM,peak_flops,bf16,989,TFLOP/s,true,data sheet,official,
H100-SXM,peak_flops,fp8,1979,TFLOP/s,true,data sheet,official,
H100-SXM,peak_flops,fp8,3958,TFLOP/s,false,data sheet,official,sparse
H100-SXM,hbm_bandwidth,,3.35,TB/s,true,data sheet,official,
H100-SXM,hbm_capacity,,80,GB,true,data sheet,official,
H100-SXM,chip_price,,2,USD/h,true,list price,official,
H100-SXM,scale_up_size,,8,1,true,data sheet,official,
B200-SXM,peak_flops,fp4,9e15,FLOP/s,true,data sheet,official,
B200-SXM,hbm_capacity,,180,GB,true,cloud page,secondary,
B200-SXM,hbm_capacity,,192,GB,false,launch talk,secondary,
TPU-v5e,peak_flops,int8,393e12,FLOP/s,true,page,official,
TPU-v6e,peak_flops,bf16,918e12,FLOP/s,true,page,official,
TPU7x,peak_flops,tf32,1e15,FLOP/s,true,page,official,
Two-true,peak_flops,fp8,1e15,FLOP/s,true,page,official,
Two-true,peak_flops,fp8,2e15,FLOP/s,true,page,official,
None-true,peak_flops,fp8,1e15,FLOP/s,false,page,official,
Odd-unit,peak_flops,fp8,1e15,byte/s,true,page,official,
"""
MODEL_HEADER = (
    "model,aliases,hf_id,total_params,active_params,params_source,kv_formula,layers,kv_layers,kv_heads,head_dim,"
    "latent_dim,rope_dim,query_heads,nope_dim,value_dim,config_source,verification,notes"
)
MODELS = """
Llama-3-70B,Llama3;L3,meta-llama/Meta-Llama-3-70B,70B,70B,card,gqa,80,80,8,128,,,64,,,config,verified,
Llama-3-8B,,meta-llama/Meta-Llama-3-8B,8B,8B,card,gqa,32,32,8,128,,,,,,config,verified,
Scout,,a/scout,109B,17B,card,hybrid,48,12,8,128,,,40,,,config,verified,
V3,,a/v3,671e9,37e9,card,mla,61,61,,,512,64,128,128,128,config,verified,
K3,,a/k3,2.8T,,text,mla_hybrid,93,24,,,512,64,96,128,128,config,verified,
V4,,a/v4,1.6T,49B,card,,61,61,1,512,,,,,,config,verified,block-sparse attention
Gap,,a/gap,1B,1B,card,gqa,,12,8,128,,,,,,config,verified,
New,,a/new,1B,1B,card,ring,12,12,8,128,,,,,,config,verified,
Zero,,a/zero,1B,0,card,gqa,12,12,8,128,,,,,,config,verified,
"""
SPARSE_HEADER = (
    "model,total_params,active_params,kv_formula,layers,latent_dim,rope_dim,query_heads,nope_dim,value_dim,"
    "window_layers,window_tokens,linear_layers,indexer_layers,indexer_dim,sparse_layers,selected_entries"
)
SPARSE = """
V3.2,671B,37B,mla_indexed,61,512,64,128,128,128,,,,61,128,61,2048
Mixed,1B,1B,gqa,12,,,,,,6,4096,6,,,,
"""


COLUMNS = dict.fromkeys(table("architectures")[0], "")


def rows(header, text, **others):
    columns = header.split(",")
    return tuple({**others, **dict(zip(columns, line.split(","), strict=True))} for line in text.strip().splitlines())


@pytest.fixture
def small(monkeypatch):
    sparse = rows(SPARSE_HEADER, SPARSE, **COLUMNS | {"kv_heads": "8", "head_dim": "128"})
    tables = {"hardware": rows(HARDWARE_HEADER, HARDWARE), "architectures": rows(MODEL_HEADER, MODELS, **COLUMNS) + sparse}
    monkeypatch.setattr(presets, "table", tables.__getitem__)


# -- hardware -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["H100-SXM:fp8", "h100-sxm:FP8", "H100:fp8", " h100 : fp8 "])
def test_hardware_sets_what_a_chip_does_and_says_where_it_is_from(small, text):
    assert hardware(text) == Preset(
        givens={
            **{"bytes_per_weight": 1.0, "peak_flops": 1.979e15, "hbm_bandwidth": 3.35e12, "hbm_capacity": 80e9},
            **{"attention_rate_ratio": 989 / 1979, "scale_up_size": 8.0},
        },
        provenance={
            "attention_rate_ratio": "hardware.csv H100-SXM peak_flops bf16 over fp8: attention runs in bf16 unless it is given",
            "bytes_per_weight": "hardware.csv H100-SXM: weights stored as fp8",
            "peak_flops": "hardware.csv H100-SXM peak_flops fp8: data sheet (official)",
            "hbm_bandwidth": "hardware.csv H100-SXM hbm_bandwidth: data sheet (official)",
            "hbm_capacity": "hardware.csv H100-SXM hbm_capacity: data sheet (official)",
            "scale_up_size": "hardware.csv H100-SXM scale_up_size: data sheet (official)",
        },
        variants={},
    )


def has_bf16(name: str) -> bool:
    return any(row["accelerator"] == name and row["quantity"] == "peak_flops" and row["dtype"] == "bf16" for row in table("hardware"))


def test_the_data_type_sets_flops_and_bytes_together(small):
    assert hardware("H100:bf16").givens["peak_flops"] == 989e12
    assert hardware("H100:bf16").givens["bytes_per_weight"] == 2
    assert hardware("B200").givens == {"bytes_per_weight": 0.5, "peak_flops": 9e15, "hbm_capacity": 180e9}
    assert hardware("TPU-v5e").givens["bytes_per_weight"] == 1


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("H100", WrongValue, ["data type", "bf16 or fp8", "--hardware H100-SXM:"]),
        ("H100-SXM:fp4", UnknownName, ["data type 'fp4'", "fp8", "--hardware H100-SXM:"]),
        ("H10-SXM:fp8", UnknownName, ["accelerator 'H10-SXM'", "'H100-SXM'", "backsolve list --hardware"]),
        ("TPU", UnknownName, ["accelerator 'TPU'", "TPU-v5e", "TPU-v6e", "2 names begin so"]),
        ("", UnknownName, ["accelerator ''"]),
        (":fp8", UnknownName, ["accelerator ''"]),
        ("TPU7x", NotCovered, ["TPU7x", "no peak_flops", "fp8"]),
        ("Two-true", WrongData, ["hardware.csv Two-true peak_flops fp8", "preferred", "2 of 2"]),
        ("None-true", WrongData, ["hardware.csv None-true peak_flops fp8", "preferred", "0 of 1"]),
        ("Odd-unit", WrongData, ["hardware.csv Odd-unit", "peak_flops is in FLOP/s", "byte/s"]),
    ],
)
def test_hardware_that_is_wrong(small, text, kind, words):
    with pytest.raises(kind) as caught:
        hardware(text)
    assert all(word in str(caught.value) for word in words), caught.value


# -- models ---------------------------------------------------------------------------------------------------------


NONE = {"window_kv_bytes": 0, "linear_state_bytes": 0, "selected_kv_bytes": 0}
MLA = {"latent_dim": 512, "rope_dim": 64, "nope_dim": 128, "value_dim": 128}
GQA = {"kv_heads": 8, "head_dim": 128}


@pytest.mark.parametrize(
    ("text", "formula", "givens"),
    [
        ("Llama-3-70B", "gqa", {"total_params": 70e9, "active_params": 70e9, "layers": 80, "query_heads": 64} | GQA),
        ("Scout", "hybrid", {"total_params": 109e9, "active_params": 17e9, "layers": 48, "kv_layers": 12, "query_heads": 40} | GQA),
        ("V3", "mla", {"total_params": 671e9, "active_params": 37e9, "layers": 61, "query_heads": 128} | MLA),
        ("K3", "mla_hybrid", {"total_params": 2.8e12, "layers": 93, "kv_layers": 24, "query_heads": 96} | MLA),
    ],
)
def test_model_sets_what_its_formula_asks_for(small, text, formula, givens):
    preset = model(text)
    assert preset.givens == givens | NONE
    absorbed = "_absorbed" if formula.startswith("mla") else ""
    assert preset.variants == {
        **{"kv_bytes_per_token": formula, "attention_flops_per_pair": formula + absorbed},
        "prefill_attention_flops_per_pair": formula if absorbed else "same",
    }
    assert set(preset.provenance) == set(givens | NONE) and preset.left_out == ()
    assert preset.provenance["window_kv_bytes"] == f"architectures.csv {text} window_layers: config (verified): none"
    assert preset.provenance["total_params"] == f"architectures.csv {text} total_params: {'text' if text == 'K3' else 'card'}"
    assert preset.provenance["query_heads"] == f"architectures.csv {text} query_heads: config (verified)"


def test_a_model_that_selects_what_it_reads_gets_no_dense_attention(small):
    preset = model("V3.2")
    sizes = {"total_params": 671e9, "active_params": 37e9, "layers": 61, "latent_dim": 512, "rope_dim": 64}
    selection = {"indexer_layers": 61, "indexer_dim": 128, "sparse_layers": 61, "selected_entries": 2048, "query_heads": 128}
    assert preset.givens == sizes | selection | {"window_kv_bytes": 0, "linear_state_bytes": 0}
    chosen = ("kv_bytes_per_token", "kv_read_bytes_per_token", "selected_entry_width", "selected_attention_flops")
    assert preset.variants == {**dict.fromkeys((*chosen, "attention_flops_per_sequence"), "mla_indexed"), "kv_time": "fixed"}
    assert preset.left_out == presets.DENSE_ONLY


def test_columns_of_states_and_index_keys_are_read_where_the_table_has_them(small, monkeypatch):
    """A blank one is left to whoever asks."""
    more = {"indexer_heads": "64", "indexer_bytes_per_element": "1.03125", "state_bytes_per_element": "4"}
    assert not more.keys() & model("V3.2").givens.keys()
    tables = {"architectures": tuple({**row, **more} for row in presets.table("architectures"))}
    monkeypatch.setattr(presets, "table", tables.__getitem__)
    assert {name: model("V3.2").givens[name] for name in more} == {name: float(text) for name, text in more.items()}
    assert model("Mixed").givens["state_bytes_per_element"] == 4


def test_windows_and_states_choose_what_is_stored_read_and_multiplied(small):
    preset = model("Mixed")
    chosen = {"kv_time": "fixed", "kv_bytes_per_sequence": "fixed", "attention_flops_per_sequence": "windowed"}
    plain = {"kv_bytes_per_token": "gqa", "attention_flops_per_pair": "gqa", "prefill_attention_flops_per_pair": "same"}
    assert preset.variants == {**plain, **chosen}
    assert preset.left_out == ("context.balance_context", "context.balance_context_with_attention")


def test_a_model_of_windows_and_states_has_stages_of_all_its_layers():
    """gpt-oss-120b: 36 layers, 18 of them with windows; four stages of 9."""
    assert solve("layers_per_stage", model="gpt-oss-120b", pipeline_stages=4).answers[0].value == 9


def test_a_part_that_is_not_described_in_full_is_not_zero(small):
    given = model("Mixed").givens
    assert given["window_layers"] == 6 and given["window_tokens"] == 4096 and given["linear_layers"] == 6
    assert given["selected_kv_bytes"] == 0 and not {"window_kv_bytes", "linear_state_bytes"} & set(given)


MIXTURE = {"experts": "256", "active_experts": "8", "moe_layers": "58", "model_dim": "7168", "experts_source": "c", "experts_grade": "read"}


def with_router(monkeypatch, **cells):
    row = rows(MODEL_HEADER, MODELS, **COLUMNS)[3] | cells
    monkeypatch.setattr(presets, "table", {"architectures": (row,)}.__getitem__)
    return model("V3")


def test_a_mixture_sets_its_router_and_says_where_it_is_from(monkeypatch):
    preset = with_router(monkeypatch, **MIXTURE)
    router = {name: preset.givens[name] for name in presets.ROUTER}
    assert router == {"experts": 256, "active_experts": 8, "moe_layers": 58, "model_dim": 7168}
    assert preset.provenance["experts"] == "architectures.csv V3 experts: c (read)"


@pytest.mark.parametrize("experts", ["0", ""])
def test_a_dense_model_has_no_router(monkeypatch, experts):
    preset = with_router(monkeypatch, **MIXTURE | {"experts": experts, "active_experts": experts})
    assert not {*presets.ROUTER} & preset.givens.keys()


OF_WHAT_IS_STORED = {
    *("cache.hold_cost", "cache.retrieve_cost", "cache.break_even"),
}


def test_no_equation_takes_what_a_model_stores_for_what_it_reads():
    """What joins by itself and speaks of stored bytes means them, is a variant a preset chooses, or is left out."""
    joins = [row for row in by_id().values() if row.kind in CHAINED_BY_ITSELF and "kv_bytes_per_token" in row.symbols]
    plain = {row.id for row in joins if row.variant is None}
    assert plain == OF_WHAT_IS_STORED | {id for id in presets.DENSE_ONLY if "kv_bytes_per_token" in equation(id).symbols}
    groups = {row.variant[0] for row in joins if row.variant}
    chosen = {*presets.SAME_NAME, "kv_time", "kv_bytes_per_sequence"}
    assert groups == {"kv_bytes_per_token", "kv_read_bytes_per_token", "kv_time", "kv_bytes_per_sequence"} == groups & chosen


@pytest.mark.parametrize("text", ["Llama-3-70B", "llama-3-70b", "LLAMA3", "L3", "meta-llama/meta-llama-3-70b"])
def test_model_is_found_by_name_alias_and_id(small, text):
    assert model(text) == model("Llama-3-70B")


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("Llama-3", UnknownName, ["model 'Llama-3'", "Llama-3-70B", "Llama-3-8B", "2 names begin so"]),
        ("Lama-3-8B", UnknownName, ["model 'Lama-3-8B'", "'Llama-3-8B'", "backsolve list --models"]),
        ("", UnknownName, ["model ''"]),
        ("V4", NotCovered, ["V4", "attention", "block-sparse"]),
        ("Gap", WrongData, ["architectures.csv Gap", "column layers", "gqa"]),
        ("New", WrongData, ["architectures.csv New", "kv_formula", "'ring'", "mla_hybrid"]),
        ("Zero", WrongData, ["architectures.csv Zero", "active_params = 0"]),
    ],
)
def test_model_that_is_wrong(small, text, kind, words):
    with pytest.raises(kind) as caught:
        model(text)
    assert all(word in str(caught.value) for word in words), caught.value


# -- the data that ships --------------------------------------------------------------------------------------------

FORBIDDEN = {"kv_bytes_per_token", "bytes_per_element", "chip_price"}


def pairs_of_hardware():
    rated = {(row["accelerator"], row["dtype"]) for row in table("hardware") if row["quantity"] == "peak_flops"}
    return sorted(f"{name}:{dtype}" for name, dtype in rated)


@pytest.mark.parametrize("text", pairs_of_hardware())
def test_every_accelerator_that_ships(text):
    preset = hardware(text)
    beside = {"attention_rate_ratio"} if preset.givens["bytes_per_weight"] < 2 and has_bf16(text.split(":")[0]) else set()
    listed = {row["quantity"] for row in table("hardware") if row["accelerator"] == text.split(":")[0]}
    beside |= {name for name, called in LINKS.items() if called in listed}
    assert set(preset.givens) == {"peak_flops", "hbm_bandwidth", "hbm_capacity", "bytes_per_weight", *beside} == set(preset.provenance)


@pytest.mark.parametrize("name", model_names())
def test_every_model_that_ships_is_set_or_refused_by_name(name):
    try:
        preset = model(name)
    except NotCovered as refusal:
        assert str(refusal).startswith(name)
        return
    row = next(row for row in table("architectures") if row["model"] == name)
    given = preset.givens
    selects = row["kv_values_read_per_context_token"] != row["kv_values_stored_per_token"]
    windows, states = bool(row["window_layers"]), bool(row["linear_layers"])
    limited = selects or windows or states
    assert preset.left_out == (presets.DENSE_ONLY if selects else presets.ALL_GROWS if limited else ())
    assert (preset.variants.get("kv_time"), "attention_flops_per_pair" in preset.variants) == ("fixed" if limited else None, not selects)
    assert preset.variants.get("kv_bytes_per_sequence") == ("fixed" if windows or states else None)
    assert preset.variants.get("attention_flops_per_sequence") == (row["kv_formula"] if selects else "windowed" if windows else None)
    assert not FORBIDDEN & set(given) and set(given) <= set(QUANTITIES)
    assert given.get("active_params", 0) <= given.get("total_params", float("inf"))
    assert given.get("layers") == (float(row["layers"]) if row["layers"] else None)


def test_no_two_models_share_a_spelling():
    for row in table("architectures"):
        for spelled in filter(None, [row["hf_id"], *row["aliases"].split(";")]):
            try:
                assert model(spelled) == model(row["model"])
            except NotCovered as refusal:
                assert str(refusal).startswith(row["model"])


def test_names_are_listed_once():
    assert len(set(hardware_names())) == len(hardware_names()) and "H100-SXM" in hardware_names()
    assert len(set(model_names())) == len(model_names()) == len(table("architectures"))


@given(st.text(max_size=40) | st.builds("{}:{}".format, st.sampled_from(hardware_names()), st.text(max_size=5)))
def test_any_text_gives_a_preset_or_a_named_mistake(text):
    for read in (hardware, model):
        with suppress(BacksolveError):
            assert isinstance(read(text), Preset)


# -- what weights are stored as -------------------------------------------------------------------------------------


def of_two_types(total, active, experts, chosen, narrow, wide):
    """What a weight takes on average, of which those that lie in the experts take less: as many as total and active ones tell apart."""
    share = (total - active) / (1 - chosen / experts) / total
    return narrow * share + wide * (1 - share)


GPT_OSS = of_two_types(117e9, 5.1e9, 128, 4, 4.25 / 8, 2)
KIMI = of_two_types(1e12, 32e9, 384, 8, 4.5 / 8, 2)


def stored(chip, name, **given):
    """What a weight takes, and where that is from."""
    solution = solve("weight_bytes", hardware=chip, model=name, **given)
    return solution.given["bytes_per_weight"], solution.provenance["bytes_per_weight"], solution.assumptions


@pytest.mark.parametrize(
    ("chip", "name", "expected", "owner"),
    [
        # one type of fewer bytes than the chip computes in
        ("A100:bf16", "DeepSeek-V3", 1, "native_dtype: weights stored as published, fp8"),
        ("H100:bf16", "MiniMax-M2", 1, "native_dtype: weights stored as published, fp8"),
        # experts and the rest in two types, on chips that compute in neither of them, in one or in both
        ("A100:int8", "gpt-oss-120b", GPT_OSS, "native_dtype: weights stored as published, mxfp4 experts + bf16"),
        ("H100:bf16", "gpt-oss-120b", GPT_OSS, "native_dtype: weights stored as published, mxfp4 experts + bf16"),
        ("H100:fp8", "gpt-oss-120b", GPT_OSS, "native_dtype: weights stored as published, mxfp4 experts + bf16"),
        ("B200:fp4", "gpt-oss-120b", GPT_OSS, "native_dtype: weights stored as published, mxfp4 experts + bf16"),
        ("H200:fp8", "Kimi-K2-Thinking", KIMI, "native_dtype: weights stored as published, int4 experts + bf16"),
        # a chip that computes in fewer bytes than the model was published in: whoever names it converts the weights
        ("B200:fp4", "DeepSeek-V3", 0.5, "hardware.csv B200-SXM: weights stored as fp4"),
        ("H100:fp8", "Llama-3-70B", 1, "hardware.csv H100-SXM: weights stored as fp8"),
        ("H100:fp8", "DeepSeek-V3", 1, "hardware.csv H100-SXM: weights stored as fp8"),
        # nobody read what it was published in
        ("H100:fp8", "Mistral-Small-4-119B", 1, "hardware.csv H100-SXM: weights stored as fp8"),
    ],
)
def test_weights_are_stored_as_published_where_the_chip_is_no_narrower(chip, name, expected, owner):
    found, provenance, said = stored(chip, name)
    assert found == pytest.approx(expected, rel=1e-12) and provenance.endswith(owner)
    of_model = f"{owner.partition(': ')[2]} (architectures.csv {name} native_dtype): give bytes_per_weight for another type"
    assert (of_model in said) == owner.startswith("native_dtype")


def test_a_type_that_was_given_goes_before_that_of_the_model():
    found, provenance, said = stored("H100:bf16", "DeepSeek-V3", bytes_per_weight=2)
    assert (found, provenance) == (2, "given")
    assert "bytes_per_weight as given, not the 1 B of architectures.csv DeepSeek-V3 native_dtype: weights stored as published, fp8" in said


@pytest.mark.parametrize("chip", ["A100:bf16", "H100:bf16", "H100:fp8", "MI300X:fp8", "B200:fp4"])
@pytest.mark.parametrize("name", ["DeepSeek-V3", "gpt-oss-120b", "Kimi-K2-Thinking"])
def test_arithmetic_stays_at_the_rate_that_the_chip_was_named_with(chip, name):
    asked = {"hardware": chip, "model": name, "chips": 1, "batch": 64}
    assert solve("compute_time", **asked).given["peak_flops"] == hardware(chip).givens["peak_flops"]
    assert solve("machine_balance_ratio", hardware=chip, model=name).given["peak_flops"] == hardware(chip).givens["peak_flops"]
    if "attention_rate_ratio" in hardware(chip).givens:
        same = solve("attention_time", **asked, context_length=4096).given["attention_rate_ratio"]
        assert same == hardware(chip).givens["attention_rate_ratio"]


def test_what_fits_as_published_is_not_refused():
    """65 GB of weights on a chip of 80 GB; in bf16 they would be 234 GB."""
    asked = {"hardware": "H100:bf16", "model": "gpt-oss-120b", "chips": 1, "batch": 1, "context_length": 4096, "bytes_per_element": 2}
    assert solve("step_time", **asked).answers
    assert solve("step_time", **asked, bytes_per_weight=2).reason.code == "does_not_fit"


def test_weights_that_are_trained_are_in_the_type_of_the_chip():
    asked = {"hardware": "H100:bf16", "model": "gpt-oss-120b", "chips": 64, "gradient_bytes_per_param": 2, "optimizer_bytes_per_param": 12}
    assert solve("training_state_bytes_per_chip", **asked).answers[0].value == 117e9 * (2 + 2 + 12) / 64


def test_a_mixture_whose_experts_were_not_counted_is_taken_to_be_all_experts(monkeypatch):
    (published,) = with_router(monkeypatch, native_dtype="mxfp4 experts + bf16").published
    assert (published.bytes_per_weight, published.narrowest, published.max_context) == (17 / 32, 0.5, inf)
    (published,) = with_router(monkeypatch, **MIXTURE, native_dtype="mxfp4 experts + bf16").published
    assert published.bytes_per_weight == pytest.approx(of_two_types(671e9, 37e9, 256, 8, 17 / 32, 2), rel=1e-12)


def test_two_models_that_were_published_differently_are_refused_unless_the_type_is_given():
    both = (*model("DeepSeek-V3").published, *model("gpt-oss-120b").published)
    chip = replace(hardware("H100:bf16"), published=both)
    with pytest.raises(WrongValue, match=r"fp8 in DeepSeek-V3 and mxfp4 experts \+ bf16 in gpt-oss-120b: give bytes_per_weight"):
        as_published(chip)
    assert as_published(chip, {"bytes_per_weight"}).givens["bytes_per_weight"] == 1
    assert as_published(replace(chip, published=both[:1] * 2)).givens["bytes_per_weight"] == 1


@pytest.mark.parametrize("name", [row["model"] for row in table("architectures") if row["kv_formula"]])
def test_every_model_says_what_it_was_published_in_and_up_to_which_context(name):
    row = next(row for row in table("architectures") if row["model"] == name)
    (published,) = model(name).published
    assert (published.model, published.dtype, published.max_context) == (name, row["native_dtype"], float(row["max_context"]))
    if row["native_dtype"]:
        assert published.of_experts <= published.bytes_per_weight <= published.of_others <= 2
