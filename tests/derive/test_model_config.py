"""Models by their config.json: published files against the table, files made by hand, and files that are wrong."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backsolve import solve
from derive.errors import BacksolveError, NotCovered, UnknownName, WrongData
from derive.model_config import read_config
from derive.preset_rows import Architecture
from derive.presets import architecture, kv_bytes, model, model_name
from derive.tables import shipped
from tests.tools.commands import call

FOLDER = Path(__file__).parent / "model_configs"
FILES = sorted(FOLDER.glob("*.json"))
OF_THE_FILE = {
    *("layers", "kv_layers", "kv_heads", "kv_formula", "kv_shards", "head_dim", "latent_dim", "rope_dim", "query_heads", "nope_dim"),
    *("value_dim", "key_dim", "experts", "active_experts", "shared_experts", "moe_layers", "model_dim", "moe_ffn_dim", "dense_ffn_dim"),
    *("vocab_size", "tied_embeddings", "max_context"),
    *(
        name
        for name in shipped.read().columns(Architecture.TABLE)
        if name.startswith(("window", "linear", "state_", "indexer", "sparse", "selected", "heav"))
    ),
}
"""Columns of architectures.csv that a config.json says."""
DENSE = {
    **{"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8},
    **{"intermediate_size": 14336, "vocab_size": 128256, "torch_dtype": "bfloat16", "tie_word_embeddings": False},
}
"""Llama-3.1-8B."""


def written(folder, **settings):
    place = folder / "config.json"
    place.write_text(json.dumps(settings))
    return str(place)


def row_of(name):
    return architecture(model_name(name.replace("--", "/")))


def test_a_file_is_solved_as_the_model_of_the_table():
    asked = {"hardware": "8xH200:fp8", "batch": 64, "context_length": "8k", "kv_dtype": "fp8"}
    own = solve("step_time", model=str(FOLDER / "deepseek-ai--DeepSeek-V3.json"), **asked)
    assert own.value == pytest.approx(solve("step_time", model="DeepSeek-V3", **asked).value, rel=0.02)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_published_file_says_what_the_table_has(file):
    found, known = read_config(str(file)), row_of(file.stem)
    said = {name: getattr(known, name) for name in OF_THE_FILE if getattr(known, name) not in (None, "")}
    assert {name: getattr(found.row, name) for name in said} == said
    for width in (1.0, 2.0):
        assert kv_bytes(found.row, width) == kv_bytes(known, width)
    assert found.row.total_params == pytest.approx(known.total_params, rel=0.005)
    assert found.row.active_params == pytest.approx(known.active_params, rel=0.17)
    assert not found.remark


@pytest.mark.parametrize(
    ("settings", "columns"),
    [
        ({"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "n_ctx": 1024, "vocab_size": 50257},
         {"kv_formula": "gqa", "kv_heads": 12, "head_dim": 64, "max_context": 1024, "total_params": 123.53e6}),
        ({"model_type": "gemma3_text", "num_hidden_layers": 34, "hidden_size": 2560, "intermediate_size": 10240, "sliding_window": 1024},
         {"kv_layers": 5, "window_layers": 29, "window_kv_heads": 4, "head_dim": 256, "tied_embeddings": True, "total_params": 3.88e9}),
        ({**DENSE, "model_type": "jamba", "num_experts": 16, "num_experts_per_tok": 2, "mamba_d_state": 16, "mamba_expand": 2,
          "mamba_dt_rank": 256, "vocab_size": 65536},
         {"kv_layers": 4, "linear_layers": 28, "moe_layers": 16, "state_key_dim": 8192, "total_params": 51.5e9, "active_params": 12.1e9}),
        ({"model_type": "nemotron_h", "hybrid_override_pattern": "M-M*-", "hidden_size": 8192, "intermediate_size": 32768,
          "num_attention_heads": 64, "num_key_value_heads": 8, "attention_head_dim": 128, "mamba_num_heads": 256, "mamba_head_dim": 64,
          "ssm_state_size": 256, "n_groups": 8, "vocab_size": 131072},
         {"layers": 5, "kv_layers": 1, "linear_layers": 2, "kv_formula": "hybrid", "state_heads": 256, "state_value_dim": 256}),
        ({**DENSE, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "linear_attn_config":
          {"full_attn_layers": [4, 8], "num_heads": 32, "head_dim": 128}},
         {"kv_formula": "mla_hybrid", "kv_layers": 2, "linear_layers": 30, "state_bytes_per_element": 4.0}),
        ({"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40, "vocab_size": 100352, "attn_config": {"kv_n_heads": 8},
          "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}},
         {"kv_heads": 8, "experts": 16, "total_params": 132e9, "active_params": 36.5e9}),
        ({**DENSE, "hidden_size": 8192, "intermediate_size": 28672, "num_attention_heads": 64, "num_hidden_layers": 54,
          "moe_num_experts": 64, "moe_k": 8, "moe_intermediate_size": 3584, "moe_layer_start_index": 3, "moe_layer_end_index": 52,
          "vocab_size": 103424}, {"moe_layers": 50, "dense_ffn_dim": 28672, "active_experts": 8}),
        ({**DENSE, "num_experts": 64, "moe_topk": [8] * 32, "num_shared_expert": [1] * 32, "moe_intermediate_size": [3072] * 32,
          "intermediate_size": 3072, "vocab_size": 128167},
         {"active_experts": 8, "shared_experts": 1, "moe_ffn_dim": 3072, "total_params": 80.9e9, "active_params": 13.3e9}),
        ({"model_type": "falcon_h1", "num_hidden_layers": 72, "hidden_size": 5120, "num_attention_heads": 20, "num_key_value_heads": 4,
          "head_dim": 128, "intermediate_size": 21504, "vocab_size": 261120, "mamba_d_ssm": 4096, "mamba_n_heads": 32,
          "mamba_d_head": 128, "mamba_d_state": 256, "mamba_n_groups": 2},
         {"kv_formula": "hybrid", "kv_layers": 72, "linear_layers": 72, "state_heads": 32, "total_params": 33.6e9}),
        ({"model_type": "minimax", "num_hidden_layers": 80, "hidden_size": 6144, "num_attention_heads": 64, "num_key_value_heads": 8,
          "head_dim": 128, "intermediate_size": 9216, "num_local_experts": 32, "num_experts_per_tok": 2, "vocab_size": 200064,
          "attn_type_list": [0, 0, 0, 0, 0, 0, 0, 1] * 10},
         {"kv_formula": "hybrid", "kv_layers": 10, "linear_layers": 70, "total_params": 456.09e9}),
        ({**DENSE, "model_type": "qwen2", "use_sliding_window": True, "sliding_window": 4096, "max_window_layers": 28},
         {"kv_formula": "hybrid", "kv_layers": 28, "window_layers": 4, "window_tokens": 4096}),
        ({**DENSE, "model_type": "qwen2", "sliding_window": 4096, "max_window_layers": 28},
         {"kv_formula": "gqa", "kv_layers": 32, "window_layers": None}),
        ({**DENSE, "model_type": "mistral", "sliding_window": 32768, "max_position_embeddings": 32768},
         {"kv_formula": "gqa", "kv_layers": 32, "window_layers": None}),
        # The cache of a layer that uses another one's is not stored again.
        ({"text_config": {"model_type": "gemma3n_text", "num_hidden_layers": 35, "num_kv_shared_layers": 15, "hidden_size": 2048,
          "intermediate_size": [16384] * 35, "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 256, "vocab_size": 262400,
          "vocab_size_per_layer_input": 262144, "hidden_size_per_layer_input": 256, "laurel_rank": 64, "altup_num_inputs": 4,
          "sliding_window": 512, "layer_types": (["sliding_attention"] * 4 + ["full_attention"]) * 7}},
         {"kv_layers": 4, "window_layers": 16, "layers": 35, "total_params": 6.87e9}),
        # By hand: 16 layers of 41.9e6 parameters of attention, 16 of 83.9e6, and 6.69e9 others.
        ({**DENSE, "num_kv_shared_layers": 16, "global_head_dim": 256, "sliding_window": 512,
          "layer_types": ["sliding_attention", "full_attention"] * 16}, {"kv_layers": 8, "window_layers": 8, "total_params": 8.701e9}),
        ({**DENSE, "use_cla": True, "cla_share_factor": 2}, {"kv_layers": 16, "total_params": 8.03e9}),
        ({**DENSE, "num_hidden_layers": 40, "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38]}, {"kv_layers": 32, "layers": 40}),
        # Other ways to say which layers have the whole context.
        ({**DENSE, "layer_group_size": 8}, {"kv_formula": "hybrid", "kv_layers": 4, "linear_layers": 28}),
        ({**DENSE, "sliding_window": 4096, "global_attn_every_n_layers": 4}, {"kv_layers": 8, "window_layers": 24}),
        ({**DENSE, "sliding_window": 4096, "sliding_window_pattern": "LLLG"}, {"kv_layers": 8, "window_layers": 24}),
        ({**DENSE, "no_rope_layer_interval": 4, "use_sliding_window": False}, {"kv_formula": "gqa", "kv_layers": 32}),
        ({**DENSE, "attn_layer_indices": [9, 18, 27], "mamba_n_heads": 128, "mamba_d_head": 64, "mamba_d_state": 256},
         {"kv_layers": 3, "linear_layers": 29, "state_heads": 128, "total_params": 9.82e9}),
        ({**DENSE, "model_type": "lfm2_moe", "num_hidden_layers": 24, "hidden_size": 2048, "intermediate_size": 7168, "num_experts": 32,
          "num_experts_per_tok": 4, "moe_intermediate_size": 1792, "num_dense_layers": 2, "conv_L_cache": 3, "vocab_size": 65536,
          "layer_types": (["conv", "conv", "full_attention", "conv"] * 6), "tie_word_embeddings": True},
         {"kv_layers": 6, "linear_layers": 18, "state_key_dim": 2048, "state_value_dim": 2, "total_params": 8.34e9}),
        ({"model_type": "longcat_flash", "num_layers": 28, "hidden_size": 6144, "ffn_hidden_size": 12288, "expert_ffn_hidden_size": 2048,
          "num_attention_heads": 64, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
          "v_head_dim": 128, "n_routed_experts": 512, "moe_topk": 12, "vocab_size": 131072},
         {"kv_formula": "mla", "kv_layers": 56, "moe_layers": 28, "total_params": 561e9}),
        # Two of three experts have weights. By hand: each of 4 layers uses 8 of 64, of 3 x 4096 x 2048 parameters, and 96 router columns.
        ({**DENSE, "num_hidden_layers": 4, "n_routed_experts": 64, "zero_expert_num": 32, "moe_topk": 12, "moe_intermediate_size": 2048},
         {"active_experts": 8, "total_params": 7.664e9, "active_params": 2.027e9}),
        ({"model_type": "smallthinker", "num_hidden_layers": 52, "hidden_size": 2560, "num_attention_heads": 28, "num_key_value_heads": 4,
          "head_dim": 128, "moe_ffn_hidden_size": 768, "moe_layer_layout": [1] * 52, "moe_num_primary_experts": 64,
          "moe_num_active_primary_experts": 6, "sliding_window_layout": [0, 1, 1, 1] * 13, "sliding_window_size": 4096,
          "vocab_size": 151936}, {"kv_layers": 13, "window_layers": 39, "moe_layers": 52, "total_params": 21.5e9, "active_params": 3.72e9}),
        # By hand: feed-forward parts of 512 and 1024, attention of 4 + 8 query heads and 1 + 2 KV heads, and 1000 tokens once.
        ({"model_dim": 512, "num_transformer_layers": 2, "num_query_heads": [4, 8], "num_kv_heads": [1, 2], "head_dim": 64,
          "ffn_multipliers": [0.9, 1.9], "ffn_dim_divisor": 256, "share_input_output_layers": True, "vocab_size": 1000},
         {"query_heads": 6, "kv_heads": 1.5, "total_params": 512 * (2 * 64 * 15 + 3 * 1536 + 1000)}),
        # The first of two numbers is for text.
        ({**DENSE, "moe_num_experts": [64, 64], "moe_k": 6, "moe_layer_end_index": [31, 30], "moe_layer_start_index": [1, 1],
          "moe_intermediate_size": [1536, 512]}, {"moe_layers": 31, "moe_ffn_dim": 1536, "experts": 64}),
        ({"num_hidden_layers": 45, "hidden_size": 4096, "num_attention_heads": 64, "num_attention_groups": 8, "head_dim": 128,
          "layer_types": (["full_attention"] + ["sliding_attention"] * 3) * 11 + ["full_attention"], "sliding_window": 512,
          "attention_other_setting": {"num_attention_heads": 96, "num_attention_groups": 4}, "intermediate_size": 11264,
          "moe_num_experts": 288, "moe_top_k": 8, "moe_intermediate_size": 1280, "share_expert_dim": 1280,
          "moe_layers_enum": ",".join(map(str, range(3, 45))), "vocab_size": 128896},
         {"kv_heads": 8, "window_kv_heads": 4, "total_params": 196.8e9, "active_params": 11.8e9}),
        ({"num_hidden_layers": 61, "hidden_size": 7168, "num_attention_heads": 64, "num_attention_groups": 1, "head_dim": 256,
          "share_q_dim": 2048, "intermediate_size": 18432, "moe_num_experts": 48, "moe_top_k": 3, "moe_intermediate_size": 5120,
          "share_expert_dim": 5120, "moe_layers_enum": ",".join(map(str, range(4, 60))), "vocab_size": 128815},
         {"kv_heads": 1, "moe_layers": 56, "total_params": 316e9, "active_params": 38.8e9}),
        # Two matrices by the activation: 32 layers of 2 x 4096 x 14336 and attention, and 1.0507e9 of the vocabulary.
        ({**DENSE, "model_type": "arcee", "hidden_act": "relu2"}, {"total_params": 6.15e9}),
        ({**DENSE, "model_type": "qwen", "intermediate_size": 2 * 14336}, {"total_params": 8.03e9}),
        ({**DENSE, "num_hidden_layers": 64, "hidden_size": 8192, "num_attention_heads": 64, "intermediate_size": 32768,
          "vocab_size": 131072, "num_local_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 16384, "residual_moe": True},
         {"total_params": 269.5e9, "active_params": 114.9e9}),
        ({"model_type": "minicpm3", "num_hidden_layers": 62, "hidden_size": 2560, "num_attention_heads": 40, "q_lora_rank": 768,
          "kv_lora_rank": 256, "qk_nope_head_dim": 64, "qk_rope_head_dim": 32, "intermediate_size": 6400, "vocab_size": 73448},
         {"kv_formula": "mla", "value_dim": 64, "total_params": 4.07e9}),
        ({"dim": 4096, "n_layers": 32, "head_dim": 128, "hidden_dim": 14336, "n_heads": 32, "n_kv_heads": 8, "vocab_size": 32000,
          "sliding_window": -1, "moe": {"num_experts_per_tok": 2, "num_experts": 8}},
         {"kv_formula": "gqa", "kv_heads": 8, "total_params": 46.7e9, "active_params": 12.9e9}),
        ({"thinker_config": {"text_config": DENSE, "audio_config": {"d_model": 1280}}}, {"kv_heads": 8, "total_params": 8.03e9}),
        # Names of other tools and of older models.
        ({**DENSE, "num_key_value_heads": None, "num_query_groups": 8}, {"kv_heads": 8, "total_params": 8.03e9}),
        ({**DENSE, "num_key_value_heads": [8, 8, 4, 2] * 8}, {"kv_heads": 5.5}),
        ({**DENSE, "num_key_value_heads": None, "attention_head_type": "multiquery"}, {"kv_heads": 1}),
        ({**DENSE, "num_key_value_heads": None, "block_configs": [
            {"attention": {"n_heads_in_group": 4 * of}, "ffn": {"ffn_mult": 5.25}} for of in (1, 2) * 16]},
         {"kv_heads": 6, "dense_ffn_dim": 14336}),
        ({"model_type": "RefinedWeb", "hidden_size": 8192, "n_layer": 60, "n_head": 128, "n_head_kv": 8, "vocab_size": 65024},
         {"kv_heads": 8, "head_dim": 64, "total_params": 41.3e9}),
        ({"model_type": "gpt_neo", "hidden_size": 2560, "num_layers": 32, "num_heads": 20, "window_size": 256, "vocab_size": 50257,
          "attention_layers": ["global", "local"] * 16}, {"kv_layers": 16, "window_tokens": 256, "total_params": 2.65e9}),
        ({"model_type": "opt", "hidden_size": 1024, "ffn_dim": 4096, "num_hidden_layers": 24, "num_attention_heads": 16,
          "vocab_size": 50272, "word_embed_proj_dim": 512, "hidden_act": "relu"}, {"total_params": 330e6}),
        ({"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8, "vocab_size": 128256, "multiple_of": 1024,
          "ffn_dim_multiplier": 1.3}, {"dense_ffn_dim": 14336, "total_params": 8.03e9}),
        ({"model_type": "lfm2", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8,
          "block_ff_dim": 12288, "conv_L_cache": 3, "full_attn_idxs": [2, 5, 8, 10, 12, 14], "vocab_size": 65536},
         {"kv_layers": 6, "dense_ffn_dim": 8192, "total_params": 1.17e9}),
        ({"model_type": "molmo", "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
          "intermediate_size": 37888, "vocab_size": 152064, "weight_tying": False}, {"total_params": 7.61e9}),
        # By hand: 12 layers of 35.7e6 and 26 of 52.4e6, 38 feed-forward parts of 151e6, and the vocabulary once.
        ({"model_type": "recurrent_gemma", "hidden_size": 4096, "num_hidden_layers": 38, "num_attention_heads": 16,
          "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 24576, "attention_window_size": 2048, "lru_width": 4096,
          "block_types": ["recurrent", "recurrent", "attention"], "vocab_size": 256000},
         {"kv_layers": 0, "window_layers": 12, "linear_layers": 26, "state_key_dim": 4096, "total_params": 8.58e9}),
        # What a class of transformers knows and the file leaves out.
        ({"text_config": {"model_type": "mistral", "num_key_value_heads": 8, "vocab_size": 32064}}, {"layers": 32, "total_params": 7.24e9}),
        ({"text_config": {"model_type": "gemma2", "hidden_size": 3584, "intermediate_size": 14336, "num_attention_heads": 16,
          "num_hidden_layers": 42, "num_key_value_heads": 8, "sliding_window": 4096, "vocab_size": 257216}},
         {"head_dim": 256, "kv_layers": 21, "total_params": 9.24e9}),
        ({"model_type": "arctic", "hidden_size": 7168, "num_hidden_layers": 35, "num_attention_heads": 56, "num_key_value_heads": 8,
          "intermediate_size": 4864, "num_local_experts": 128, "num_experts_per_tok": 2, "vocab_size": 32000},
         {"active_params": 17.3e9, "total_params": 479e9}),
        ({**DENSE, "model_type": "bitnet", "hidden_act": "relu2"}, {"total_params": 8.03e9}),
    ],
    ids=[
        *("gpt2", "gemma3", "jamba", "nemotron", "kimi-linear", "dbrx", "ernie", "hunyuan", "falcon-h1", "minimax-01"),
        *("windows of the last layers", "windows not in use", "windows as long as the context"),
        *("gemma-3n", "gemma-4", "hunyuan-large", "llama-3.2-vision", "ring-linear", "trinity", "exaone-4", "smollm3", "bamba", "lfm2"),
        *("longcat", "empty experts", "smallthinker", "openelm", "ernie-vl"),
        *("step-3.5", "step-3", "relu2", "qwen", "grok-2", "minicpm3", "mixtral as mistral writes it", "qwen3-omni"),
        *("megatron", "decilm", "santacoder", "nemotron-51b", "falcon"),
        *("gpt-neo", "opt-350m", "llama-3 as meta writes it", "lfm2-1.2b", "molmo", "recurrentgemma"),
        *("llava-next", "paligemma2", "arctic", "bitnet"),
    ],
)  # fmt: skip
def test_other_ways_of_saying_it(tmp_path, settings, columns):
    found = read_config(written(tmp_path, **settings)).row
    for name, value in columns.items():
        assert getattr(found, name) == (pytest.approx(value, rel=0.01) if name.endswith("params") else value), name


@pytest.mark.parametrize(
    ("quantization", "bytes_per_weight"),
    [
        # By hand: 1.0507e9 of 8.0300e9 parameters are the vocabulary, in bf16.
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, (2 * 1.0507 + 6.9793 * (0.5 + 2.5 / 128)) / 8.03),
        ({"quant_method": "gptq", "bits": 8, "group_size": -1}, (2 * 1.0507 + 6.9793) / 8.03),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, (2 * 1.0507 + 6.9793 * 4.5 / 8) / 8.03),
        ({"quant_method": "fp8"}, (2 * 1.0507 + 6.9793) / 8.03),
        ({"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}, (2 * 1.0507 + 6.9793 * 9 / 16) / 8.03),
        ({"quant_algo": "W4A16_AWQ", "group_size": 128}, (2 * 1.0507 + 6.9793 * (0.5 + 2.5 / 128)) / 8.03),
        ({"quant_method": "exl2", "bits": 4.65}, (2 * 1.0507 + 6.9793 * 4.65 / 8) / 8.03),
        ({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp8_e4m3"}}}, (2 * 1.0507 + 6.9793) / 8.03),
        ({"bits": 4, "group_size": 64}, (2 * 1.0507 + 6.9793 * (0.5 + 4 / 64)) / 8.03),
        ({"quant_method": "fp8", "ignored_layers": ["self_attn"]}, (2 * (1.0507 + 1.3422) + 5.6371) / 8.03),
        ({"quant_method": "torchao", "quant_type": "float8_dynamic_activation_int8_weight"}, (2 * 1.0507 + 6.9793) / 8.03),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True},
         (2 * 1.0507 + 6.9793 * (0.5 + (1 + 4 / 256) / 64)) / 8.03),
        # Attention is 1.3422e9 parameters.
        ({"config_groups": {"0": {"targets": ["re:.*self_attn.*"], "weights": {"num_bits": 8, "type": "float"}},
                            "1": {"targets": ["re:.*mlp.*"], "weights": {"num_bits": 4, "type": "float", "group_size": 16}}}},
         (2 * 1.0507 + 1.3422 + 5.6371 * 9 / 16) / 8.03),
    ],
)  # fmt: skip
def test_quantized_weights_have_their_scales_and_a_vocabulary_in_bf16(tmp_path, quantization, bytes_per_weight):
    (tmp_path / "config.json").write_text(json.dumps({**DENSE, "quantization_config": quantization}))
    assert read_config(str(tmp_path / "config.json")).stored.bytes_per_weight == pytest.approx(bytes_per_weight, rel=1e-4)


def test_quantization_may_be_in_a_file_beside(tmp_path):
    assert read_config(written(tmp_path, **DENSE, quantization={"qformat_weight": "fp8_e4m3"})).stored.dtype == "fp8"
    (tmp_path / "hf_quant_config.json").write_text('{"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}}')
    found = read_config(written(tmp_path, **DENSE))
    assert (found.stored.dtype, found.cache_bytes) == ("fp8", 1)


@pytest.mark.parametrize(("context", "tokens"), [(1_000, 1_000), (4_096, 4_096), (30_000, 4_096)])
def test_a_model_whose_layers_all_have_windows_has_no_cache_that_grows(tmp_path, context, tokens):
    """A layer stores 2 x 8 x 128 values of 2 bytes for a token of its window."""
    place = written(tmp_path, **{**DENSE, "model_type": "mistral", "sliding_window": 4096, "max_position_embeddings": 32768})
    asked = {"model": place, "context_length": context, "bytes_per_element": 2}
    assert solve("kv_bytes_per_sequence", **asked).value == 32 * tokens * 4096
    assert solve("kv_bytes_per_token", model=place).value == 0
    assert solve("kv_time", hardware="H100:bf16", batch=8, **asked).value == pytest.approx(8 * 32 * tokens * 4096 / 3.35e12)


def test_a_quantized_model_says_the_width_of_its_cache_until_a_given_does(tmp_path):
    """Llama-3.1-8B stores 2 x 32 x 8 x 128 = 65,536 values for a token."""
    scheme = {"num_bits": 8, "type": "float", "strategy": "tensor"}
    place = written(tmp_path, **DENSE, quantization_config={"quant_method": "fp8", "kv_cache_scheme": scheme})
    assert solve("kv_bytes_per_token", model=place).value == 65_536
    assert solve("kv_bytes_per_token", model=place, bytes_per_element=2).value == 131_072


def test_what_was_not_understood_is_told_in_one_line(tmp_path):
    settings = {**DENSE, "head_extra_dim": 8, "rope_theta": 500000, "quantization_config": {"quant_method": "new"}, "sliding_window": 64}
    settings["torch_dtype"] = "posit16"
    place = written(tmp_path, **settings)
    (told,) = (one for one in solve("kv_bytes_per_token", model=place, kv_dtype="fp8").warnings if one.startswith("not understood"))
    assert all(one in told for one in ("head_extra_dim", "quantization_config (new)", "sliding_window", "torch_dtype ('posit16')"))
    assert "rope_theta" not in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[1]", "is not a JSON object"),
        ('{"hidden_size":\n1', "is not JSON (Expecting ',' delimiter, line 2)"),
        ('{"hidden_size": 1, "hidden_size": 2}', "is there twice"),
        (json.dumps({**DENSE, "num_hidden_layers": "32"}), "num_hidden_layers = '32'"),
        (json.dumps({**DENSE, "num_experts": 8, "num_experts_per_tok": 9}), "num_experts_per_tok = 9 is more than the 8 experts"),
        (json.dumps({**DENSE, "num_hidden_layers": 10**14}), "is not a whole number"),
        (json.dumps({**DENSE, "layer_types": ["full_attention"]}), "a list of 1 layers"),
        (json.dumps({**DENSE, "layer_types": ["full_atention"] * 32}), "did you mean 'full_attention'"),
        (json.dumps({name: value for name, value in DENSE.items() if name != "vocab_size"}), "has no vocab_size"),
        (json.dumps({**DENSE, "num_hidden_layers": 0}), "num_hidden_layers = 0. A model has at least 1"),
        (json.dumps({**DENSE, "model_type": "mamba2"}), "no layer has attention"),
        (json.dumps({name: value for name, value in DENSE.items() if name != "intermediate_size"}), "has no intermediate_size"),
        (json.dumps({**DENSE, "num_key_value_heads": 7}), "32 query heads"),
        (json.dumps({**DENSE, "is_encoder_decoder": True}), "has an encoder"),
        (json.dumps({**DENSE, "architectures": ["BertForMaskedLM"]}), "has an encoder"),
        (json.dumps({**DENSE, "num_key_value_heads": 0}), "num_key_value_heads = 0. A model has at least 1"),
        (json.dumps({**DENSE, "head_dim": [128, 64] * 16}), "is not one number for all layers"),
        (json.dumps({"n_layer": 64, "d_model": 2560, "attn_layer_idx": []}), "no layer has attention"),
        (json.dumps({"is_encoder_decoder": True, "decoder": {}}), "has an encoder"),
        (json.dumps({**DENSE, "num_key_value_heads": [8, 0] * 16}), "evenly by 0 key and value heads"),
        (json.dumps({**DENSE, "hidden_size": -1}), "hidden_size = -1. A model has at least 1"),
        (json.dumps({**DENSE, "tie_word_embeddings": "false"}), "is neither true nor false"),
        (json.dumps({**DENSE, "quantization_config": "awq"}), "quantization_config = 'awq' is not an object"),
        ('{"model_type": "clip", "hidden_sizes": 12}', "did you mean 'hidden_sizes'"),
        ("\0" * (17 * 2**20), "larger than 16 MiB"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_by_what_is_wrong(tmp_path, text, told):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(WrongData) as refused:
        read_config(str(tmp_path / "config.json"))
    assert told in str(refused.value)
    assert str(refused.value).count("\n") < 2


def test_a_file_that_is_not_there_has_its_nearest_one_named(tmp_path):
    written(tmp_path, **DENSE)
    with pytest.raises(WrongData, match=r"did you mean '.*config\.json'"):
        model(str(tmp_path / "confg.json"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(WrongData, match=r"empty/config\.json: cannot be read"):
        model(str(tmp_path / "empty"))


def test_attention_that_no_equation_covers_is_refused(tmp_path):
    latent = {"kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128}
    indexer = {"index_topk": 2048, "index_n_heads": 32, "index_head_dim": 128, "full_attention_interval": 4}
    with pytest.raises(NotCovered):
        model(written(tmp_path, **DENSE, **latent, **indexer))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**15) | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["attention", "ffn", "weights", "bits"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=20)
@given(st.sampled_from(FILES), st.randoms(use_true_random=False), st.lists(VALUES, min_size=1, max_size=3))
def test_any_other_value_is_read_or_refused(tmp_path_factory, file, random, values):
    published = json.loads(file.read_text())
    inside = published.get("text_config", published)
    names = [*inside, "quantization_config", "block_configs", "linear_attn_config", "compress_ratios", "sliding_window_pattern"]
    changed = {random.choice(names): value for value in values}
    try:
        model(written(tmp_path_factory.mktemp("changed"), **{**inside, **changed}))
    except BacksolveError as error:
        assert str(error)


def test_paths_come_before_names_and_names_before_the_cache(tmp_path, monkeypatch):
    written(tmp_path, **{**DENSE, "num_hidden_layers": 5})
    for name, layers in (("me--mine", 6), ("meta-llama--Llama-3.1-8B", 7)):
        (snapshot := tmp_path / "hub" / f"models--{name}" / "snapshots" / "0a1b").mkdir(parents=True)
        written(snapshot, **{**DENSE, "num_hidden_layers": layers})
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    found = {name: model(name).givens["layers"] for name in (str(tmp_path), "me/mine", "meta-llama/Llama-3.1-8B")}
    assert [*found.values()] == [5, 6, 32]
    with pytest.raises(UnknownName, match="not in the local cache of huggingface_hub"):
        model("me/other")
    monkeypatch.chdir(tmp_path.parent)
    assert model(tmp_path.name).givens["layers"] == 5


def test_the_command_line_lists_and_shows_it():
    place = str(FOLDER / "openai--gpt-oss-20b.json")
    assert "20.91B" in call("list", "--models", place).out
    assert "4 of 32 experts" in call("show", place).out
    assert "norms and biases and vision_config" in call("show", str(FOLDER / "Qwen--Qwen3.5-397B-A17B.json")).out
    (record,) = json.loads(call("list", "--models", place, "--as", "json").out)["models"]
    assert record["kv_bytes_per_token"] == 12288
