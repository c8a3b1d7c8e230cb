"""Retired equations: their last formula, for readers of a citation, and their successors."""

import re
from collections.abc import Callable
from operator import ge, gt, le, lt
from typing import Any

from derive.catalogue.arithmetic import logarithm, maximum, minimum, power
from derive.catalogue.sources import ours
from derive.records import Equation, Requirement
from derive.trees import IN_ORDER, LARGEST_OF, LOGARITHM, ROOT, SMALLEST_OF, Operations, Tree, all_parts, tree_of, value_of


def _root(value: Any) -> Any:
    return power(value, 1, 2)


_OPERATIONS: Operations = {**IN_ORDER, ROOT: _root, LOGARITHM: logarithm, LARGEST_OF: maximum, SMALLEST_OF: minimum}
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {"<=": le, ">=": ge, "<": lt, ">": gt}


def _retired(record: str) -> tuple[str, tuple[str, str, Equation]]:
    """Return an entry of `RETIRED` from a record of `_RECORDS`."""
    named, title, *lines = map(str.strip, record.splitlines())
    reference, use = named.split(" -> ")
    successor, _, beside = use.partition(" with ")
    formula, _, needed = " ".join(lines).partition(" if ")
    id, _, version = reference.partition("@")
    left, sense, right = _sides(formula)
    row = Equation(
        id=id,
        last_version=int(version),
        title=title,
        relation=_function(_pair, left, right),
        requires=tuple(
            Requirement(holds=_function(_COMPARISONS[sign], low, high)) for low, sign, high in map(_sides, filter(None, needed.split(", ")))
        ),
        sense=sense,
        defined_elsewhere=True,
        statement=f"Retired. Use {use}.",
        sources=(ours(f"retired in favour of {successor}"),),
    )
    return id, (successor, beside, row)


def _pair(left: Any, right: Any) -> tuple[Any, Any]:
    return left, right


def _sides(formula: str) -> tuple[Tree, str, Tree]:
    left, sense, right = re.split(" ([<>]?=|[<>]) ", formula)
    return tree_of(left), sense, tree_of(right)


def _function(combine: Callable[[Any, Any], Any], left: Tree, right: Tree) -> Callable[..., Any]:
    """Return a function of the quantities of two formulas. Its parameters have the order of the formulas, as in the catalogue."""
    names = tuple(dict.fromkeys(part for side in (left, right) for part in all_parts(side) if isinstance(part, str)))

    def function(*values: Any) -> Any:
        at = dict(zip(names, values, strict=True))
        return combine(value_of(left, at, _OPERATIONS), value_of(right, at, _OPERATIONS))

    function.argument_names = names  # type: ignore[attr-defined]
    return function


_RECORDS = """
roofline.tensor_parallel_time@1 -> network.tensor_parallel_time
  Time to add up what the chips of a layer make
  tensor_parallel_time = layers*allreduces_per_layer*batch*tokens_verified_per_step*model_dim*bytes_per_activation*2*(chips -
    1)/(chips*link_bandwidth)
  if chips > 1
memory.weight_bytes_resident@1 -> memory.resident_weight_bytes
  Bytes of the weights, from those resident on each chip
  weight_bytes = resident_weight_bytes_per_chip*chips*pipeline_stages
serving.drafting_compute_ratio@1 -> serving.drafting_time
  Drafting time over compute time
  drafting_compute_ratio = drafting_time/compute_time
roofline.plain_weight_time@1 -> roofline.weight_time
  Weight-read time of a step without drafts
  plain_weight_time = weight_time
serving.prefill_weight_compute_ratio@1 -> batching.weight_compute_ratio
  Weight time of a pass with many new tokens over compute time of decode
  prefill_weight_compute_ratio = weight_compute_ratio
serving.mixed_memory_time@1 -> roofline.memory_time
  Memory time of a step with a chunk of prefill
  mixed_memory_time = memory_time
architecture.prefill_attention_flops@1 -> architecture.attention_flops
  Attention FLOPs of prefill per query and context token, same as decode
  prefill_attention_flops_per_pair = attention_flops_per_pair
memory.scale_up_fit@1 -> memory.fits with chips=scale_up_size
  The memory demand fits into one scale-up domain
  memory_demand <= scale_up_size*hbm_capacity
pipeline.one_microbatch_per_stage@1 -> pipeline.sequences_in_flight with microbatches=pipeline_stages
  As many microbatches as stages
  microbatches = pipeline_stages
pipeline.interleaved_bubble@1 -> pipeline.bubble
  Bubble of an interleaved training schedule
  bubble_fraction = (pipeline_stages - 1)/(virtual_stages*training_microbatches + pipeline_stages - 1)
  if pipeline_stages > 1, virtual_stages >= 1, training_microbatches >= pipeline_stages
architecture.total_params_dense@1 -> architecture.total_params
  Parameters of a dense model
  total_params = 2*vocab_size*model_dim + layers*(attention_params_per_layer + 3*model_dim*ffn_dim)
architecture.active_params_dense@1 -> architecture.active_params
  Active parameters of a dense model
  active_params = 2*vocab_size*model_dim + layers*(attention_params_per_layer + 3*model_dim*ffn_dim)
architecture.total_params_moe@1 -> architecture.total_params
  Parameters of a mixture of experts
  total_params = 2*vocab_size*model_dim + layers*attention_params_per_layer + (layers - moe_layers)*3*model_dim*ffn_dim +
    moe_layers*model_dim*(3*moe_ffn_dim*(experts + shared_experts) + experts)
  if moe_layers <= layers
architecture.active_params_moe@1 -> architecture.active_params
  Active parameters of a mixture of experts
  active_params = 2*vocab_size*model_dim + layers*attention_params_per_layer + (layers - moe_layers)*3*model_dim*ffn_dim +
    moe_layers*model_dim*(3*moe_ffn_dim*(active_experts + shared_experts) + experts)
  if active_experts < experts, moe_layers <= layers
training.equal_cost_inference_split@1 -> training.equal_cost_inference
  Pre-training and inference cost the same, prompts at full rate
  pretrain_tokens = inference_tokens*(prompt_share + (1 - prompt_share)/decode_efficiency)/3
roofline.plain_weight_time_resident@1 -> roofline.weight_time
  Weight-read time of a step without drafts, from the bytes resident on each chip
  plain_weight_time = weight_time
serving.prefill_weight_compute_ratio_resident@1 -> batching.weight_compute_ratio
  Weight time of a pass with many new tokens over compute time of decode, from the bytes resident on each chip
  prefill_weight_compute_ratio = weight_compute_ratio
serving.mixed_memory_time_resident@1 -> roofline.memory_time
  Memory time of a step with a chunk of prefill, from the bytes resident on each chip
  mixed_memory_time = memory_time
serving.free_prefill_chunk_resident@1 -> serving.free_prefill_chunk
  Prefill tokens that add no time to a memory-bound step, from the bytes resident on each chip
  free_prefill_chunk = batch*one_token*(memory_time - tokens_verified_per_step*(compute_time +
    attention_time))/(compute_time*prefill_attention_factor)
  if memory_time > tokens_verified_per_step*(attention_time + compute_time)
architecture.selected_attention_flops_compressed@1 -> architecture.selected_flops_per_entry_gqa_indexed
  Attention FLOPs of one new token over selected entries, tokens compressed into shared entries
  selected_attention_flops = flop_per_mac*sparse_layers*query_heads*2*head_dim*read_entries
architecture.prefill_selected_flops_compressed@1 -> architecture.selected_flops_per_entry_gqa_indexed
  Attention FLOPs of one new token of a prompt over selected entries, tokens compressed into shared entries
  prefill_selected_flops = flop_per_mac*sparse_layers*query_heads*2*head_dim*prefill_read_entries
serving.cost_per_token_with_prompts@1 -> serving.cost_per_token
  Cost of a decoded token, prompts on the same chips
  cost_per_token = chips*pipeline_stages*chip_price*token_latency/(microbatches*batch*tokens_per_step*(1 - prompt_time_share))
  if prompt_time_share < 1
serving.cost_from_throughput@2 -> serving.cost_per_token
  Cost of a token from a measured throughput
  cost_per_token = chips*pipeline_stages*chip_price/throughput
scheduling.decode_only_throughput_with_prompts@1 -> scheduling.decode_only_throughput
  Throughput while only decode runs, prompts on the same chips
  decode_only_throughput = microbatches*batch*tokens_per_step/token_latency
network.tensor_parallel_time_of_prompts@1 -> network.tensor_parallel_time
  Tensor-parallel all-reduce time of a pass over prompts
  tensor_parallel_time = layers*allreduces_per_layer*prefill_batch*new_tokens_per_pass/one_token*model_dim*bytes_per_activation*2*(chips
    - 1)/(chips*link_bandwidth)
  if chips > 1
training.pretrain_cost_recomputed@1 -> reversible.training_cost
  FLOPs of pre-training with full recomputation
  pretrain_flops = 8*one_flop_per_token*active_params*pretrain_tokens
serving.blended_price_of_share@1 -> serving.blended_price
  Mean price of a token from the share that is prompt
  blended_price = prompt_share*mean_input_price + (1 - prompt_share)*output_price
serving.prefill_rate_of_time@1 -> serving.prefill_rate_per_chip
  Prefill rate of one chip from the time of a prompt
  prefill_rate_per_chip = prefill_batch*uncached_tokens/(prefill_time*chips)
training.activations_that_fit@1 -> training.memory_fits
  Activations that fit beside the states
  activation_bytes_per_chip <= hbm_capacity - training_state_bytes_per_chip
  if hbm_capacity > training_state_bytes_per_chip
training.state_bytes_adam@1 -> training.state_bytes
  Sixteen bytes per parameter
  training_state_bytes_per_chip = trained_bytes_per_param*total_params/(chips*pipeline_stages)
architecture.kv_bytes_hybrid@1 -> architecture.kv_bytes_gqa
  KV bytes per token, only some layers attend to the whole context
  kv_bytes_per_token = keys_and_values*kv_layers*kv_heads*head_dim*bytes_per_element
architecture.kv_bytes_gqa_indexed@2 -> architecture.kv_bytes_gqa
  KV bytes per token, grouped-query attention with an indexer
  kv_bytes_per_token = keys_and_values*layers*kv_heads*head_dim*bytes_per_element +
    entry_per_token*indexer_layers*indexer_dim*indexer_bytes_per_element
architecture.kv_bytes_mla_hybrid@1 -> architecture.kv_bytes_mla
  KV bytes per token, latent attention on only some layers
  kv_bytes_per_token = latent_per_token*kv_layers*(latent_dim + rope_dim)*bytes_per_element
architecture.kv_bytes_mla_indexed@2 -> architecture.kv_bytes_mla
  KV bytes per token, latent attention with an indexer
  kv_bytes_per_token = latent_per_token*layers*(latent_dim + rope_dim)*bytes_per_element +
    entry_per_token*indexer_layers*indexer_dim*indexer_bytes_per_element
architecture.kv_read_bytes_mla_indexed@2 -> architecture.kv_read_bytes
  KV bytes read per token of context, every layer selects
  kv_read_bytes_per_token = entry_per_token*indexer_layers*indexer_dim*indexer_bytes_per_element
architecture.kv_read_bytes_gqa_indexed@2 -> architecture.kv_read_bytes
  KV bytes read per token of context, all but a few layers select
  kv_read_bytes_per_token = keys_and_values*(layers - sparse_layers)*kv_heads*head_dim*bytes_per_element +
    entry_per_token*indexer_layers*indexer_dim*indexer_bytes_per_element
  if layers >= sparse_layers
architecture.kv_read_bytes_compressed@2 -> architecture.kv_read_bytes
  KV bytes read per token of context, tokens compressed into shared entries
  kv_read_bytes_per_token = entry_per_token*(sparse_layers*indexer_dim*indexer_bytes_per_element/sparse_compression_ratio +
    heavily_compressed_layers*head_dim*bytes_per_element/heavy_compression_ratio)
architecture.kv_bytes_that_grow@1 -> architecture.kv_bytes_per_sequence
  KV bytes a sequence stores, all of which grow with its context
  kv_bytes_per_sequence = context_length*kv_bytes_per_token
architecture.attention_flops_hybrid@1 -> architecture.attention_flops
  Attention FLOPs per query and context token, only some layers attend to the whole context
  attention_flops_per_pair = flop_per_mac_and_token*2*kv_layers*query_heads*head_dim
architecture.attention_flops_mla_hybrid@1 -> architecture.attention_flops_mla
  Attention FLOPs per query and context token, latent attention on only some layers, expanded (prefill)
  attention_flops_per_pair = flop_per_mac_and_token*kv_layers*query_heads*(nope_dim + rope_dim + value_dim)
architecture.attention_flops_mla_hybrid_absorbed@1 -> architecture.attention_flops_mla_absorbed
  Attention FLOPs per query and context token, latent attention on only some layers, absorbed (decode)
  attention_flops_per_pair = flop_per_mac_and_token*kv_layers*query_heads*(2*latent_dim + rope_dim)
architecture.prefill_attention_flops_mla_hybrid@1 -> architecture.prefill_attention_flops_mla
  Attention FLOPs of prefill per query and context token, latent attention on only some layers
  prefill_attention_flops_per_pair = flop_per_mac_and_token*kv_layers*query_heads*(nope_dim + rope_dim + value_dim)
architecture.read_entries_compressed@1 -> architecture.read_entries
  Entries a sparse layer reads, tokens compressed into shared entries
  read_entries = Min(selected_entries, entry_per_token*context_length/sparse_compression_ratio)
architecture.prefill_read_entries_compressed@1 -> architecture.prefill_read_entries
  Entries a sparse layer reads for a new token of a prompt, tokens compressed into shared entries
  prefill_read_entries = entry_per_token*((Min(Max(selected_entries*sparse_compression_ratio/entry_per_token, cached_tokens) -
    cached_tokens, uncached_tokens)*(cached_tokens + Min(Max(selected_entries*sparse_compression_ratio/entry_per_token, cached_tokens) -
    cached_tokens, uncached_tokens)/2) + (uncached_tokens - Min(Max(selected_entries*sparse_compression_ratio/entry_per_token,
    cached_tokens) - cached_tokens,
    uncached_tokens))*(selected_entries*sparse_compression_ratio/entry_per_token))/uncached_tokens)/sparse_compression_ratio
architecture.indexer_flops_compressed@1 -> architecture.indexer_flops
  Indexer FLOPs per token of context, tokens compressed into shared entries
  indexer_flops_per_pair = flop_per_mac_and_token*sparse_layers*indexer_heads*indexer_dim/sparse_compression_ratio
architecture.selected_attention_flops@1 -> architecture.selected_flops_per_entry
  Attention FLOPs of one new token over selected entries, latent attention absorbed
  selected_attention_flops = flop_per_mac*sparse_layers*query_heads*(2*latent_dim + rope_dim)*read_entries
architecture.selected_attention_flops_gqa_indexed@1 -> architecture.selected_flops_per_entry_gqa_indexed
  Attention FLOPs of one new token over selected entries, grouped-query attention
  selected_attention_flops = flop_per_mac*sparse_layers*query_heads*2*head_dim*read_entries
architecture.window_attention_flops@1 -> architecture.window_flops_per_token
  Attention FLOPs of one new token in windowed layers
  window_attention_flops = flop_per_mac_and_token*window_layers*query_heads*(window_key_dim + window_value_dim)*Min(window_tokens,
    context_length)
architecture.window_attention_flops_shared@1 -> architecture.window_flops_per_token_shared
  Attention FLOPs of one new token in windowed layers, if the key is the value
  window_attention_flops = flop_per_mac_and_token*window_layers*query_heads*2*window_key_dim*Min(window_tokens, context_length)
architecture.prefill_window_flops@1 -> architecture.window_flops_per_token
  Attention FLOPs of one new token of a prompt in windowed layers
  prefill_window_flops = flop_per_mac_and_token*window_layers*query_heads*(window_key_dim + window_value_dim)*Min(prefill_window_tokens,
    prefill_window_tokens)
architecture.prefill_window_flops_shared@1 -> architecture.window_flops_per_token_shared
  Attention FLOPs of one new token of a prompt in windowed layers, if the key is the value
  prefill_window_flops = flop_per_mac_and_token*window_layers*query_heads*2*window_key_dim*Min(prefill_window_tokens,
    prefill_window_tokens)
architecture.prefill_selected_flops@1 -> architecture.selected_flops_per_entry
  Attention FLOPs of one new token of a prompt over selected entries, latent attention absorbed
  prefill_selected_flops = flop_per_mac*sparse_layers*query_heads*(2*latent_dim + rope_dim)*prefill_read_entries
architecture.prefill_selected_flops_gqa_indexed@1 -> architecture.selected_flops_per_entry_gqa_indexed
  Attention FLOPs of one new token of a prompt over selected entries, grouped queries or compressed entries
  prefill_selected_flops = flop_per_mac*sparse_layers*query_heads*2*head_dim*prefill_read_entries
architecture.attention_flops_with_windows@1 -> architecture.attention_flops_of_context
  Attention FLOPs of one new token, windows in some layers
  attention_flops_per_sequence = attention_flops_per_pair*context_length + window_attention_flops
architecture.attention_flops_mla_indexed@1 -> architecture.attention_flops_of_context
  Attention FLOPs of one new token, every layer selects
  attention_flops_per_sequence = indexer_flops_per_pair*context_length + selected_attention_flops
architecture.attention_flops_gqa_indexed@1 -> architecture.attention_flops_of_context
  Attention FLOPs of one new token, all but a few layers select
  attention_flops_per_sequence = (indexer_flops_per_pair + flop_per_mac_and_token*(layers -
    sparse_layers)*query_heads*2*head_dim)*context_length + selected_attention_flops
  if layers >= sparse_layers
architecture.attention_flops_compressed@1 -> architecture.attention_flops_of_context
  Attention FLOPs of one new token, tokens compressed into shared entries
  attention_flops_per_sequence = (indexer_flops_per_pair +
    flop_per_mac_and_token*heavily_compressed_layers*query_heads*2*head_dim/heavy_compression_ratio)*context_length +
    selected_attention_flops + window_attention_flops
architecture.prefill_attention_with_windows@1 -> architecture.prefill_attention_of_prompt
  Attention FLOPs of one new token of a prompt, windows in some layers
  prefill_attention_flops_per_token = prefill_attention_flops_per_pair*(cached_tokens + uncached_tokens/2) + prefill_window_flops
architecture.prefill_attention_mla_indexed@1 -> architecture.prefill_attention_of_prompt
  Attention FLOPs of one new token of a prompt, every layer selects
  prefill_attention_flops_per_token = indexer_flops_per_pair*(cached_tokens + uncached_tokens/2) + prefill_selected_flops
architecture.prefill_attention_gqa_indexed@1 -> architecture.prefill_attention_of_prompt
  Attention FLOPs of one new token of a prompt, all but a few layers select
  prefill_attention_flops_per_token = (indexer_flops_per_pair + flop_per_mac_and_token*(layers -
    sparse_layers)*query_heads*2*head_dim)*(cached_tokens + uncached_tokens/2) + prefill_selected_flops
  if layers >= sparse_layers
architecture.prefill_attention_compressed@1 -> architecture.prefill_attention_of_prompt
  Attention FLOPs of one new token of a prompt, tokens compressed into shared entries
  prefill_attention_flops_per_token = (indexer_flops_per_pair +
    flop_per_mac_and_token*heavily_compressed_layers*query_heads*2*head_dim/heavy_compression_ratio)*(cached_tokens + uncached_tokens/2)
    + prefill_selected_flops + prefill_window_flops
experts.weight_time_mixed@2 -> experts.weight_time_touched
  Weight-read time with only the activated experts, in another data type than the rest
  weight_time = (attention_replicas*shared_params*shared_bytes_per_weight + Min(expert_imbalance*(fetched_params - shared_params),
    routed_params)*expert_bytes_per_weight)/(chips*hbm_bandwidth*mbu)
  if fetched_params > shared_params, expert_imbalance >= 1
experts.plain_weight_time_mixed@2 -> experts.plain_weight_time_touched
  Weight-read time with only the activated experts, in another data type than the rest, of a step without drafts
  plain_weight_time = (attention_replicas*shared_params*shared_bytes_per_weight + routed_params*Min(expert_imbalance*(1 - (1 -
    active_experts/experts)**batch), 1)*expert_bytes_per_weight)/(chips*hbm_bandwidth*mbu)
  if active_experts < experts, batch >= 1, expert_imbalance >= 1
experts.latency_floor_mixed@2 -> roofline.latency_floor
  Latency floor of a step, with experts in another data type than the rest
  latency_floor = (attention_replicas*shared_params*shared_bytes_per_weight + (active_params -
    shared_params)*expert_bytes_per_weight)/(chips*hbm_bandwidth*mbu)
  if active_params > shared_params
prefill.weight_time_mixed@2 -> prefill.weight_time_touched
  Weight-read time of all passes of a prompt, with only the activated experts, in another data type than the rest
  prefill_weight_time = prefill_passes*(attention_replicas*shared_params*shared_bytes_per_weight + routed_params*(1 - (1 -
    active_experts/experts)**(prefill_batch*uncached_tokens/(one_token*prefill_passes)))*expert_bytes_per_weight) /
    (chips*hbm_bandwidth*mbu)
  if active_experts < experts
memory.weight_bytes_mixed@1 -> memory.weight_bytes_touched
  Bytes of the weights of a mixture of experts, stored in other bytes than the rest
  weight_bytes = total_params*bytes_per_weight + (attention_replicas - 1)*shared_params*shared_bytes_per_weight
architecture.kv_bytes_gqa_unequal@1 -> architecture.kv_bytes_gqa
  KV bytes per token, keys and values of different width
  kv_bytes_per_token = entry_per_token*kv_layers*kv_heads*(key_dim + value_dim)*bytes_per_element
architecture.attention_flops_gqa_unequal@1 -> architecture.attention_flops
  Attention FLOPs per query and context token, keys and values of different width
  attention_flops_per_pair = flop_per_mac_and_token*kv_layers*query_heads*(key_dim + value_dim)
pipeline.batch_of_a_pass@2 -> pipeline.sequences_in_flight
  The batch of one pass is one microbatch
  microbatch_size = batch
pipeline.microbatch_is_balance_batch@1 -> batching.practical_batch
  A microbatch of one balance batch
  microbatch_size = balance_batch
experts.prefill_touched_experts@1 -> experts.touched_experts
  Experts that a pass with many new tokens uses
  prefill_activated_experts = experts*(1 - (1 - active_experts/experts)**(batch*new_tokens_per_pass/one_token))
  if active_experts < experts, batch >= 1
experts.mixed_touched_experts@1 -> experts.touched_experts
  Experts that a step with a chunk of prefill uses
  mixed_activated_experts = experts - (experts - activated_experts)*(1 - active_experts/experts)**(prefill_chunk/one_token)
  if active_experts < experts, activated_experts <= experts
experts.reached_racks_limited@1 -> experts.reached_racks
  Racks with experts of a token, if the router limits them
  reached_racks = rack_limit*(1 - (1 - 1/rack_limit)**active_experts)
  if rack_limit >= 1
reversible.revnet_kept_half@1 -> reversible.feistel
  The half that a RevNet layer keeps
  revnet_right = left_half
energy.output_electricity_cost@1 -> energy.electricity_cost_per_token
  Cost of the electricity for decoded tokens
  output_electricity_cost = electricity_cost_per_token*output_tokens
serving.least_cost@1 -> serving.peak_throughput
  Lowest cost of a decoded token
  cost_per_token >= chip_price*flop_per_weight*active_params/(one_token*peak_flops*mfu)
serving.peak_decode_rate@1 -> serving.peak_throughput
  Largest decode rate that the arithmetic of one chip allows
  decode_rate_per_chip <= one_token*peak_flops*mfu/(flop_per_weight*active_params)
experts.active_params@1 -> experts.routed_params
  Active parameters from shared and routed ones
  active_params = shared_params + routed_params*active_experts/experts
  if active_experts < experts
training.states_fit@1 -> training.memory_fits
  The states of training fit
  training_state_bytes_per_chip <= hbm_capacity
memory.scale_up_weight_time@1 -> roofline.weight_time with chips=scale_up_size
  Weight-read time of a scale-up domain
  weight_time = total_params*bytes_per_weight/(scale_up_bandwidth*mbu)
prefill.weight_time_resident@1 -> prefill.weight_time
  Weight-read time of all passes of a prompt, from the bytes resident on each chip
  prefill_weight_time = prefill_passes*pipeline_stages*resident_weight_bytes_per_chip/(hbm_bandwidth*mbu)
experts.leaving_share_of_other_chips@1 -> experts.leaving_share
  Share of the traffic to other chips that leaves the rack
  leaving_share = expert_parallel*(racks - 1)/(racks*(expert_parallel - 1))
  if racks >= 1, expert_parallel >= racks, expert_parallel > 1
training.activation_memory_flash@1 -> reversible.activation_memory with activations_per_width=17 bytes_per_activation=2
  Activations of transformer layers, attention scores recomputed
  activation_bytes = layer_activation_bytes*layers*tokens_in_training_batch*model_dim
training.activation_memory_recomputed@1 -> reversible.activation_memory with activations_per_width=1 bytes_per_activation=2
  Activation memory with full recomputation
  activation_bytes = layer_input_bytes*layers*tokens_in_training_batch*model_dim
training.inference_cost_lecture@1 -> training.inference_cost with prompt_share=0
  FLOPs of inference, all of it at the rate of decode
  inference_flops = flop_per_mac_and_token*active_params*inference_tokens/decode_efficiency
reversible.revnet@1 -> reversible.feistel
  A RevNet layer
  revnet_left = right_half + round_function
experts.fetched_bytes_per_weight@1 -> experts.weight_time_touched
  Bytes of a weight that a step reads
  fetched_bytes_per_weight = (expert_bytes_per_weight*(fetched_params - shared_params) +
    shared_bytes_per_weight*shared_params)/fetched_params
  if fetched_params >= shared_params
experts.all_to_all_time_one_rack@1 -> experts.all_to_all_time_one_copy with link_bandwidth=scale_up_link_bandwidth
  All-to-all time of one step within one rack
  all_to_all_time = moe_layers*sequences_per_chip*reached_chips*model_dim*(dispatch_bytes_per_element +
    combine_bytes_per_element)/scale_up_link_bandwidth
architecture.window_kv_width@1 -> architecture.window_kv_bytes
  Values a windowed layer stores for one token
  window_kv_width = window_kv_heads*(window_key_dim + window_value_dim)
training.compute_time@1 -> training.rate_per_chip
  Compute time of a training step
  training_compute_time = 6*one_flop_per_token*active_params*training_tokens_per_chip/(peak_flops*mfu)
batching.balance_ratio_from_ridge@1 -> batching.machine_balance_ratio
  Machine balance ratio from the ridge point
  machine_balance_ratio = ridge_point*bytes_per_weight/flop_per_weight
batching.compute_utilisation@3 -> batching.compute_utilisation_of_step
  Compute utilisation of decode
  compute_utilisation = tokens_verified_per_step/(Max(tokens_verified_per_step*(1 + attention_compute_ratio), weight_compute_ratio +
    kv_compute_ratio) + (drafting_time + overhead_time)/compute_time)
readings.input_markup@1 -> readings.input_price_cost_ratio
  Price/cost of input
  input_price_cost_ratio = input_price/rematerialisation_cost
bands.active_params_times_markup@1 -> bands.active_params_times_price_cost_ratio
  Active parameters times price/cost, from the input price
  active_params_times_price_cost_ratio = input_price*prefill_decode_flops_ratio/(flop_per_mac_and_token*price_per_flop*prefill_cost_ratio)
"""
"""The last version of each retired equation: `id@version -> successor with givens`, its title, its formula and conditions."""

RETIRED: dict[str, tuple[str, str, Equation]] = dict(map(_retired, re.findall("^[a-z].*(?:\n .*)+", _RECORDS, re.MULTILINE)))
"""By id: the successor, the givens that make it equal, and the last version of the equation. An id is never reused."""
