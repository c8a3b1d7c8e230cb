"""Presets set what the tables say, name what they cannot do, and never set what decision 12 forbids."""

import csv
import io
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive import presets
from derive.catalogue import by_id, equation
from derive.errors import BacksolveError, NotCovered, UnknownName, WrongValue
from derive.preset_record import ROUTER
from derive.preset_rows import Architecture, OpenModel
from derive.presets import (
    OF_DATA_TYPE,
    Preset,
    architecture,
    as_published,
    chip_name,
    counted_params,
    hardware,
    hardware_names,
    model,
    model_names,
    stored_as,
)
from derive.records import CHAINED_BY_ITSELF
from derive.solving.api import solve
from derive.tables import shipped
from derive.tables.lines import BadRow
from derive.tables.shipped import Tables, read, rows_of
from tests.tools.tables import reading
from tests.tools.together import in_one_test

HARDWARE = """
accelerator,quantity,dtype,value,unit,preferred,source,date,verification,notes
H100-SXM,peak_flops,bf16,989e12,FLOP/s,true,data sheet,,official,
H100-SXM,peak_flops,fp8,1979e12,FLOP/s,true,data sheet,,official,
H100-SXM,peak_flops,fp8,3958e12,FLOP/s,false,data sheet,,official,sparse
H100-SXM,hbm_bandwidth,,3.35e12,byte/s,true,data sheet,,official,
H100-SXM,hbm_capacity,,80e9,byte,true,data sheet,,official,
H100-SXM,chip_price,,2,USD/h,false,list price,2026-05-01,official,
H100-SXM,scale_up_size,,8,1,true,data sheet,,official,
B200-SXM,peak_flops,fp4,9e15,FLOP/s,true,data sheet,,official,
B200-SXM,hbm_bandwidth,,8e12,byte/s,true,data sheet,,official,
B200-SXM,hbm_capacity,,180e9,byte,true,cloud page,,secondary,
B200-SXM,hbm_capacity,,192e9,byte,false,launch talk,,secondary,
TPU-v5e,peak_flops,int8,393e12,FLOP/s,true,page,,official,
TPU-v6e,peak_flops,bf16,918e12,FLOP/s,true,page,,official,
TPU7x,peak_flops,tf32,1e15,FLOP/s,true,page,,official,
"""
REST = "{0},hbm_bandwidth,,1e12,byte/s,true,page,,official,\n{0},hbm_capacity,,16e9,byte,true,page,,official,\n"
HARDWARE += "".join(REST.format(name) for name in ("TPU-v5e", "TPU-v6e", "TPU7x"))
MODELS = """
model,aliases,hf_id,total_params,active_params,params_source,kv_formula,layers,kv_layers,kv_heads,head_dim,latent_dim,rope_dim,query_heads,nope_dim,value_dim,notes
Llama-3-70B,Llama3;L3,meta-llama/Meta-Llama-3-70B,70e9,70e9,card,gqa,80,80,8,128,,,64,,,
Llama-3-8B,,meta-llama/Meta-Llama-3-8B,8e9,8e9,card,gqa,32,32,8,128,,,,,,
Scout,,a/scout,109e9,17e9,card,hybrid,48,12,8,128,,,40,,,
V3,,a/v3,671e9,37e9,card,mla,61,61,,,512,64,128,128,128,
K3,,a/k3,2.8e12,,text,mla_hybrid,93,24,,,512,64,96,128,128,
V4,,a/v4,1.6e12,49e9,card,,61,61,1,512,,,,,,block-sparse attention
Narrow,,a/narrow,1e9,1e9,card,gqa,12,12,8,,,,,,,
Absurd,,a/absurd,,1e18,card,gqa,12,12,8,128,,,,,,
"""
SPARSE = """
model,total_params,active_params,kv_formula,layers,kv_layers,latent_dim,rope_dim,query_heads,nope_dim,value_dim,window_layers,window_tokens,window_kv_heads,window_key_dim,window_value_dim,linear_layers,indexer_layers,indexer_dim,indexer_heads,indexer_bytes_per_element,sparse_layers,selected_entries
V3.2,671e9,37e9,mla_indexed,61,61,512,64,128,128,128,,,,,,,61,128,64,1.03125,61,2048
Mixed,1e9,1e9,gqa,12,12,,,,,,6,4096,8,128,128,6,,,,,,
"""
NOT_ASKED = {
    **{"config_source": "config", "verification": "verified", "experts_grade": "unread"},
    **{"kv_values_stored_per_token": "1", "kv_values_read_per_context_token": "1"},
    **{"release_date": "2025-01-01", "release_grade": "quoted", "kv_family": "small", "in_typical_kv": "true"},
}


def rows(text, **others):
    return [{**others, **row} for row in csv.DictReader(text.strip().splitlines())]


def architectures(*found):
    """The tables that ship with these rows for architectures.csv."""
    columns = list(shipped.read().columns("architectures"))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {"kv_shards": "1" if row.get("latent_dim") or not row.get("kv_heads") else "kv_heads"} | NOT_ASKED | row for row in found
    )
    return read().edited(architectures=out.getvalue())


SMALL = (*rows(MODELS), *rows(SPARSE, kv_heads="8", head_dim="128"))


@pytest.fixture
def small():
    files = architectures(*SMALL).edited(hardware=HARDWARE.lstrip()).files
    described = files["datapackage.json"].replace(b'"int8"', b'"int8", "tf32"')
    with reading(Tables({**files, "datapackage.json": described})):
        yield


# -- hardware -------------------------------------------------------------------------------------------------------


@in_one_test("text", ["H100-SXM:fp8", "h100-sxm:FP8", "H100:fp8", " h100 : fp8 ", "h100 sxm:fp8"])
def test_hardware_sets_what_a_chip_does_and_says_where_it_is_from(small, text):
    assert hardware(text) == Preset(
        givens={
            **{"bytes_per_weight": 1.0, "peak_flops": 1.979e15, "hbm_bandwidth": 3.35e12, "hbm_capacity": 80e9},
            **{"attention_rate_ratio": 989 / 1979, "scale_up_size": 8.0},
        },
        provenance={
            "attention_rate_ratio": "hardware.csv H100-SXM peak_flops bf16 over fp8: in bf16, unless given",
            "bytes_per_weight": "hardware.csv H100-SXM: weights stored as fp8",
            "peak_flops": "hardware.csv H100-SXM peak_flops fp8: data sheet (official)",
            "hbm_bandwidth": "hardware.csv H100-SXM hbm_bandwidth: data sheet (official)",
            "hbm_capacity": "hardware.csv H100-SXM hbm_capacity: data sheet (official)",
            "scale_up_size": "hardware.csv H100-SXM scale_up_size: data sheet (official)",
        },
        variants={},
    )


@in_one_test(("chip", "shape", "dtype"), [("H100", "Llama-3.1-70B", 2.0), ("H100", "DeepSeek-V3", 1.0), ("B200", "gpt-oss-120b", 2.0)])
def test_a_chip_without_a_data_type_computes_in_that_of_the_model_or_in_bf16(chip, shape, dtype):
    assert hardware(chip, published=model(shape).published).givens["bytes_per_weight"] == dtype


@in_one_test(
    ("name", "total", "active"),
    [
        ("Llama-3.1-405B", 405.85e9, 405.85e9),
        ("Mixtral-8x7B", 46.70e9, 12.88e9),
        ("Qwen3-8B", 8.19e9, 8.19e9),
        ("Gemma-2-9B", 9.24e9, 9.24e9),
        ("Gemma-3-27B", 27.01e9, 27.01e9),
    ],
)
def test_parameters_are_counted_from_the_dimensions_of_a_row(name, total, active):
    """By hand, e.g. Mixtral-8x7B: 32 layers of 41.9e6 for attention and 8 experts of 176.2e6, and 2 x 32000 x 4096.

    Gemma ties its embeddings: 42 layers of 44.0e6 and 154.1e6, and 256000 x 3584 once.
    """
    counts, lacking = counted_params(architecture(name))
    assert lacking == "" and counts == {"total_params": pytest.approx(total, rel=1e-3), "active_params": pytest.approx(active, rel=1e-3)}


def test_without_a_data_type_it_is_that_of_the_model_or_bf16_and_said(small):
    told = "no data type is given: H100-SXM computes in {}, for another write --hardware H100-SXM:{}"
    assert hardware("H100") == replace(hardware("H100:bf16"), unsaid=dict.fromkeys(OF_DATA_TYPE, told.format("bf16", "fp8")))
    published = [replace(one, dtype="fp8") for one in model("V3.2").published]
    assert hardware("8xH100", published=published).unsaid["peak_flops"] == told.format("fp8", "bf16")
    assert hardware("H100", published=[replace(one, dtype="mxfp4 experts + bf16") for one in published]).givens["bytes_per_weight"] == 2
    assert not hardware("B200:fp4").unsaid and not hardware("H100:fp8", published=published).unsaid


@in_one_test(
    ("text", "kind", "words"),
    [
        ("H100-SXM:fp9", UnknownName, ["data type 'fp9'", "fp8", "--hardware H100-SXM:"]),
        ("H100-SXM:fp32", UnknownName, ["data type 'fp32'", "bytes_per_weight=fp32", "--hardware H100-SXM:"]),
        ("H10-SXM:fp8", UnknownName, ["accelerator 'H10-SXM'", "'H100-SXM'", "backsolve list --hardware"]),
        ("TPU", UnknownName, ["accelerator 'TPU'", "TPU-v5e", "TPU-v6e", "names begin like this"]),
        (":fp8", UnknownName, ["accelerator ''"]),
        ("TPU7x", NotCovered, ["TPU7x", "no peak_flops", "fp8"]),
    ],
)
def test_hardware_that_is_wrong(small, text, kind, words):
    with pytest.raises(kind) as caught:
        hardware(text)
    assert all(word in str(caught.value) for word in words), caught.value


@in_one_test(
    ("chip", "texts"),
    [
        ("H100-SXM", ["NVIDIA H100 80GB HBM3", "H100-80GB", "h100_sxm", "H100 SXM5 80GB", "nvidia/h100"]),
        ("A100-SXM-80GB", ["NVIDIA A100-SXM4-80GB", "A100-80GB", "a100"]), ("A100-SXM-40GB", ["NVIDIA A100-SXM4-40GB", "A100-40GB"]),
        ("H100-PCIe", ["NVIDIA H100 PCIe"]), ("H200-SXM", ["NVIDIA H200", "H200-141GB"]), ("GB200-NVL72", ["NVIDIA GB200"]),
        ("RTX-4090", ["NVIDIA GeForce RTX 4090"]), ("MI300X", ["AMD Instinct MI300X OAM"]), ("TPU-v5e", ["v5e", "TPU v5e"]),
        ("T4", ["Tesla T4"]), ("Rubin-VR200", ["VR200"]), ("TPU7x", ["Ironwood"]), ("Trainium2", ["AWS Trainium 2"]),
    ],
)  # fmt: skip
def test_a_chip_is_found_by_what_people_and_drivers_call_it(chip, texts):
    assert {chip_name(text) for text in texts} == {chip}


@pytest.mark.parametrize("text", ["NVIDIA", "80GB", "H100-90GB", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "SXM"])
def test_what_names_no_chip_or_one_of_another_size_is_refused(text):
    with pytest.raises(UnknownName) as refused:
        chip_name(text)
    assert "A100" not in str(refused.value)


# -- models ---------------------------------------------------------------------------------------------------------


@in_one_test(
    ("name", "dtype", "texts"),
    [
        ("Llama-3.1-8B", "", ["meta-llama/Llama-3.1-8B-Instruct", "llama3.1:8b", "LLAMA 3.1 8B", "Meta-Llama-3.1-8B-Instruct"]),
        ("Llama-2-7B", "", ["meta-llama/Llama-2-7b-chat-hf"]), ("DeepSeek-R1", "", ["DeepSeek-R1-0528"]),
        ("Qwen3-30B-A3B", "", ["Qwen/Qwen3-30B-A3B-Instruct-2507"]), ("Mistral-Large-2", "", ["mistralai/Mistral-Large-Instruct-2411"]),
        ("Qwen3-235B-A22B", "fp8", ["Qwen/Qwen3-235B-A22B-FP8", "Qwen/Qwen3-235B-A22B-Thinking-2507-FP8"]),
        ("Llama-2-70B", "awq", ["TheBloke/Llama-2-70B-Chat-AWQ"]), ("Qwen2.5-72B", "gptq", ["Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4"]),
        ("Llama-3.3-70B", "nf4", ["unsloth/Llama-3.3-70B-Instruct-bnb-4bit"]), ("Qwen2.5-7B", "int8", ["Qwen2.5-7B-Instruct-GPTQ-Int8"]),
        ("Llama-3.1-70B", "q4_k_m", ["bartowski/Meta-Llama-3.1-70B-Instruct-GGUF:Q4_K_M"]), ("Command-R+", "", ["Command-R-Plus"]),
    ],
)  # fmt: skip
def test_a_model_is_found_by_its_id_on_hugging_face_and_a_type_in_it_is_that_of_the_weights(name, dtype, texts):
    for text in texts:
        found = model(text)
        assert [*(one.model for one in found.published), *found.parameters_only][0] == name, text
        assert stored_as(text) == dtype and (not dtype or found.published[0].dtype == dtype), text


@pytest.mark.parametrize(
    "text",
    [
        "Llama-3.1-9B-Instruct",
        "mistralai/Mistral-Large-Instruct-2512",
        "mistralai/Mistral-Small-Instruct-2409",
        "instruct",
        "70B",
        "/",
        "fp8",
    ],
)
def test_a_name_of_another_model_is_refused_and_no_other_size_is_offered(text):
    with pytest.raises(UnknownName) as refused:
        model(text)
    offered = str(refused.value).partition("did you mean")[2]
    assert "9B" not in text or ("8B" not in offered and "70B" not in offered)


def test_every_model_is_suggested_for_a_slip_of_its_name():
    """One letter left out in the middle: the model itself is among those that are offered, or it is named outright."""
    names = {*model_names(), *(row.model for row in rows_of(OpenModel) if not row.architecture)}
    for name in names:
        place = len(name) // 2
        slip = name[:place] + name[place + 1 :]
        try:
            model(slip)
        except UnknownName as refused:
            offered = str(refused)
            assert f"'{name}'" in offered or "begin so" in offered or not name[place].isalpha(), (slip, offered)


MLA = {"latent_dim": 512, "rope_dim": 64, "nope_dim": 128, "value_dim": 128}
GQA = {"kv_heads": 8, "head_dim": 128}


@in_one_test(
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
    assert preset.givens == givens
    absorbed = "_absorbed" if formula.startswith("mla") else ""
    assert preset.variants == {
        **{"kv_bytes_per_token": formula, "attention_flops_per_pair": formula + absorbed},
        **({"prefill_attention_flops_per_pair": formula} if absorbed else {}),
        "kv_replication": "latents" if absorbed else "heads",
    }
    assert set(preset.provenance) == set(givens) and preset.left_out == ()
    assert preset.provenance["total_params"] == f"architectures.csv {text} total_params: {'text' if text == 'K3' else 'card'}"
    assert preset.provenance["query_heads"] == f"architectures.csv {text} query_heads: config (verified)"


def test_windows_and_states_choose_what_is_stored_read_and_multiplied(small):
    preset = model("Mixed")
    plain = {"kv_bytes_per_token": "gqa", "attention_flops_per_pair": "gqa"}
    assert preset.variants == {**plain, "kv_time": "fixed", "kv_replication": "heads"}
    assert preset.left_out == ("context.balance_context", "context.balance_context_with_attention")


MIXTURE = {
    **{"experts": "256", "active_experts": "8", "shared_experts": "1", "moe_layers": "58", "model_dim": "7168", "vocab_size": "129280"},
    **{"moe_ffn_dim": "2048", "dense_ffn_dim": "18432", "experts_source": "c", "experts_grade": "read"},
}


def with_router(**cells):
    with reading(architectures(rows(MODELS)[3] | cells)):
        return model("V3")


def test_a_mixture_sets_its_router_and_says_where_it_is_from():
    preset = with_router(**MIXTURE)
    router = {name: preset.givens[name] for name in (*ROUTER, "model_dim")}
    assert router == {"experts": 256, "active_experts": 8, "moe_layers": 58, "model_dim": 7168}
    assert preset.provenance["experts"] == "architectures.csv V3 experts: c (read)"


OF_WHAT_IS_STORED = {
    *("cache.hold_cost", "cache.retrieve_cost", "cache.break_even", "memory.tokens_that_fit"),
    *("architecture.kv_read_bytes", "architecture.kv_bytes_per_sequence"),
}


def test_no_equation_takes_what_a_model_stores_for_what_it_reads():
    """What joins by itself and speaks of stored bytes means them, is a variant a preset chooses, or is left out."""
    joins = [row for row in by_id().values() if row.kind in CHAINED_BY_ITSELF and "kv_bytes_per_token" in row.symbols]
    plain = {row.id for row in joins if row.variant is None}
    read = {id for id in presets.DENSE_ONLY if "kv_bytes_per_token" in equation(id).symbols}
    told = "what is stored belongs into OF_WHAT_IS_STORED of this file, what is read into DENSE_ONLY of derive/presets.py"
    assert plain == OF_WHAT_IS_STORED | read, told
    assert {row.variant.group for row in joins if row.variant} == {"kv_bytes_per_token", "kv_time"}


@in_one_test(
    ("text", "kind", "words"),
    [
        ("Llama", UnknownName, ["model 'Llama'", "Llama-3-70B", "Llama-3-8B", "names begin like this"]),
        ("Lama-3-8B", UnknownName, ["model 'Lama-3-8B'", "'Llama-3-8B'", "backsolve list --models"]),
        ("", UnknownName, ["model ''"]),
        ("V4", NotCovered, ["V4", "attention", "block-sparse"]),
        ("Narrow", BadRow, ["architectures.csv row 8, column head_dim: is blank", "formula gqa"]),
        ("Absurd", BadRow, ["architectures.csv row 9, column active_params: 1e+18 is out of range"]),
    ],
)
def test_model_that_is_wrong(small, text, kind, words):
    with pytest.raises(kind) as caught:
        model(text)
    assert all(word in str(caught.value) for word in words), caught.value


# -- the data that ships --------------------------------------------------------------------------------------------


@given(st.text(max_size=40) | st.builds("{}:{}".format, st.sampled_from(hardware_names()), st.text(max_size=5)))
def test_any_text_gives_a_preset_or_a_named_mistake(text):
    for lookup in (hardware, model):
        with suppress(BacksolveError):
            assert isinstance(lookup(text), Preset)


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


@in_one_test(
    ("chip", "name", "expected", "owner"),
    [
        # one type of fewer bytes than the chip computes in
        ("A100:bf16", "DeepSeek-V3", 1, "native_dtype: weights stored as published, fp8"),
        # experts and the rest in two types, on chips that compute in neither of them, in one or in both
        ("A100:int8", "gpt-oss-120b", GPT_OSS, "native_dtype: weights stored as published, mxfp4 experts + bf16"),
        ("H100:fp8", "gpt-oss-120b", GPT_OSS, "native_dtype: weights stored as published, mxfp4 experts + bf16"),
        ("B200:fp4", "gpt-oss-120b", GPT_OSS, "native_dtype: weights stored as published, mxfp4 experts + bf16"),
        ("H200:fp8", "Kimi-K2-Thinking", KIMI, "native_dtype: weights stored as published, int4 experts + bf16"),
        # a chip that computes in fewer bytes than the model was published in: whoever names it converts the weights
        ("B200:fp4", "DeepSeek-V3", 0.5, "hardware.csv B200-SXM: weights stored as fp4"),
        ("H100:fp8", "Llama-3-70B", 1, "hardware.csv H100-SXM: weights stored as fp8"),
        # nobody read what it was published in
        ("H100:fp8", "Mistral-Small-4-119B", 1, "hardware.csv H100-SXM: weights stored as fp8"),
    ],
)
def test_weights_are_stored_as_published_where_the_chip_is_no_narrower(chip, name, expected, owner):
    found, provenance, said = stored(chip, name)
    assert found == pytest.approx(expected, rel=1e-12) and provenance.endswith(owner)
    of_model = f"{owner.partition(': ')[2]} (architectures.csv {name} native_dtype): give bytes_per_weight for another type"
    assert (of_model in said) == owner.startswith("native_dtype")


def test_two_models_that_were_published_differently_are_refused_unless_the_type_is_given():
    both = (*model("DeepSeek-V3").published, *model("gpt-oss-120b").published)
    chip = replace(hardware("H100:bf16"), published=both)
    with pytest.raises(WrongValue, match=r"fp8 in DeepSeek-V3 and mxfp4 experts \+ bf16 in gpt-oss-120b: give bytes_per_weight"):
        as_published(chip)
    assert as_published(chip, {"bytes_per_weight"}).givens["bytes_per_weight"] == 1
    assert as_published(replace(chip, published=both[:1] * 2)).givens["bytes_per_weight"] == 1


@in_one_test("name", [row.model for row in rows_of(Architecture) if row.kv_formula])
def test_every_model_says_what_it_was_published_in_and_up_to_which_context(name):
    row = presets.architecture(name)
    (published,) = model(name).published
    assert (published.model, published.dtype, published.max_context) == (name, row.native_dtype, row.max_context)
    if row.native_dtype:
        assert published.of_experts <= published.bytes_per_weight <= published.of_others <= 2


def test_a_table_of_open_models_that_cannot_be_used_stops_none_of_the_architectures():
    text = shipped.read().content("open_models.csv").decode()
    with reading(read().edited(open_models="")):
        assert model("DeepSeek-V3").givens["layers"] == 61
    with reading(
        read().edited(
            open_models=text.replace("Apertus-70B,,apertus,swissai,2025-09-02,70000000000", "Apertus-70B,,apertus,swissai,2025-09-02,many")
        )
    ):
        assert model("Apertus-8B").givens["total_params"] == 8e9
        with pytest.raises(BadRow, match=r"open_models\.csv row .*total_params"):
            model("apertus-70b")


@pytest.mark.parametrize("typed", ["2.5xH200", ".5xH200", "7.01xH200", "H200x8", "H200 * 3"])
def test_a_number_of_chips_in_another_form_is_no_unknown_chip(typed):
    with pytest.raises(WrongValue, match=r"a number of chips is written as [138]xH200"):
        hardware(typed)
