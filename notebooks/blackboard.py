# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.6
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The blackboard, worked out
#
# You have heard the lecture: Reiner Pope with Dwarkesh Patel, "The math behind how LLMs are trained and served".
# This notebook walks its blackboard again and turns every claim into a number.
# Each section gives the time in the video and the ids of the equations it uses.
# Any id can be opened with `derive.equation(id)` and quoted with `derive.cite(id)`.
# No figure in the text is typed: the cells below each paragraph compute and print all of them.

# %%
import pandas as pd
from IPython.display import SVG

import derive
import invert
from backsolve.figures.picture import picture
from derive.show.plot import known_numbers, roof, roofline, sweep_charts

pd.set_option("display.float_format", lambda x: f"{x:,.0f}" if 1e3 <= abs(x) < 1e9 else f"{x:.4g}")
pd.set_option("display.max_colwidth", None, "display.max_columns", None)


def solved(unknown, **question):
    """The solution, which must be one point; `.answers[0].value` is in SI units."""
    solution = derive.solve(unknown, **question)
    assert len(solution.answers) == 1 and solution.answers[0].kind == "point", solution.reason
    return solution


def value(unknown, **question):
    """The number alone."""
    return solved(unknown, **question).answers[0].value


# %% [markdown]
# ## 1. The roofline of one step (0:02:50 to 0:10:34)
#
# A decode step multiplies by the active weights and lets every new token attend to its context. It reads the weights of
# all experts that its tokens chose, and the KV cache of every sequence.
# The step takes at least the longer of the arithmetic and the reading.
# Equations: `roofline.compute_time`, `roofline.attention_time`, `experts.weight_time_touched`, `architecture.kv_bytes_mla`,
# `roofline.kv_time`, `roofline.memory_time`, `roofline.step_time`.
#
# The model is DeepSeek-V3 and the chips are H100s, both as shipped presets.
# The number of chips, the batch and the context are our choice. A cached value takes one byte, as a weight does.

# %%
model = {"model": "DeepSeek-V3", "hardware": "H100-SXM:fp8", "bytes_per_element": 1}
serving = {**model, "chips": 64, "context_length": "1k"}

step = solved("step_time", batch=2_000, **serving)
pd.DataFrame(
    [(leg.unknown, leg.value, leg.formula, leg.equation) for leg in step.route],
    columns=["quantity", "SI value", "formula", "equation"],
)

# %% [markdown]
# The same step as a point under the roof of its chip: left of the ridge memory time is longer, right of it compute time.

# %%
SVG(picture([roofline([roof("H100", known_numbers(step))])], "svg"))

# %% [markdown]
# Which term binds depends on the batch. Arithmetic and KV reads grow with it. The weight read grows too, but only until
# the batch has activated every expert: then it stays, where the lecture has it from the start.
# One sequence waits for the weights that it uses: it sits on the latency floor, `roofline.latency_floor`. A small batch of
# more sequences waits for more experts and is well above it. A large batch is busy with arithmetic.

# %%
BATCHES = (1, 100, 1_000, 5_000, 10_000, 20_000)
TIMES = ("compute_time", "attention_time", "weight_time", "kv_time", "step_time")
binds = {batch: solved("step_time", batch=batch, **serving).answers[0].regime for batch in BATCHES}
times = {f"{name} [ms]": {batch: 1e3 * value(name, batch=batch, **serving) for batch in BATCHES} for name in TIMES}
floor = 1e3 * value("latency_floor", chips=64, **model)

assert binds[1] == "memory_time >= attention_time + compute_time" and binds[20_000] == "attention_time + compute_time >= memory_time"
assert floor < times["step_time [ms]"][1] < 1.01 * floor and times["step_time [ms]"][100] > 10 * floor
assert abs(times["weight_time [ms]"][1_000] / times["weight_time [ms]"][20_000] - 1) < 1e-9
print(f"latency floor: {floor:.2f} ms\n\n{derive.cite('roofline.step_time')}")
pd.DataFrame({**times, "binds": binds}).rename_axis("batch")

# %% [markdown]
# ## 2. The balance batch, and why sparsity moves it (0:17:56 to 0:25:57)
#
# Leave the KV cache out for a moment. At the balance batch the arithmetic takes as long as the weight read.
# It is the machine balance ratio times the sparsity, which is total over active parameters.
# Equations: `batching.machine_balance_ratio`, `batching.sparsity`, `batching.balance_batch`.
#
# The lecture puts in a round ratio and a simplified sparsity. The data sheet and the real parameters of DeepSeek-V3
# give more than twice as many sequences. Active parameters set the arithmetic and total parameters the weight read,
# so a sparser model needs a larger batch to stay busy. The size of the model drops out.

# %%
chip = {"hardware": model["hardware"]}
models = {
    "as on the blackboard": {"machine_balance_ratio": 300, "sparsity": 8},
    "DeepSeek-V3 on H100s": {"model": model["model"], **chip},
    "a dense model on H100s": {"active_params": "37B", "total_params": "37B", **chip},
    "ten times DeepSeek-V3 on H100s": {"active_params": "370B", "total_params": "6710B", **chip},
}
batches = {label: value("balance_batch", **question) for label, question in models.items()}
lecture_batch, real_batch, dense_batch, tenfold_batch = batches.values()

assert real_batch > 2 * lecture_batch and dense_batch < lecture_batch
assert abs(tenfold_batch / real_batch - 1) < 1e-9
pd.Series(batches).to_frame("balance batch")

# %% [markdown]
# ## 3. The balance context (0:11:40 to 0:12:04)
#
# The KV read and the arithmetic both grow with the batch, so no batch helps against a long context.
# At the balance context the two are equal. Twice that context leaves half of the compute unused: the lecture's answer.
# The balance batch grows as the context nears the balance context. Past it there is none, and the solver says why.
#
# So far attention costs reads and no arithmetic, as in the lecture. Here that does not hold: absorbed latent attention over
# a cache of one byte a value does more arithmetic for every byte that it reads than the chip does in that time, at the rate of
# the data type that attention runs in. The reads of a large batch never catch up with its arithmetic, at no context.
# Equations: `context.balance_context`, `batching.compute_utilisation_of_step`, `batching.balance_batch_with_kv`,
# `context.balance_context_with_attention`.

# %%
balance_context = value("balance_context", **model)
shares = {"half the balance context": 0.5, "at it": 1, "twice": 2, "four times": 4}
contexts = {label: share * balance_context for label, share in shares.items()}
lecture = {**model, "attention_flops_per_pair": 0}
use = {label: value("compute_utilisation", batch=1e7, context_length=context, **lecture) for label, context in contexts.items()}
halfway = value("balance_batch_with_kv", context_length=contexts["half the balance context"], **lecture)
beyond = derive.solve("balance_batch_with_kv", context_length=contexts["twice"], **lecture)
counted = derive.solve("balance_context_with_attention", **model)

assert abs(use["twice"] - 0.5) < 1e-3 and halfway > real_batch and not beyond.answers
assert not counted.answers and value("balance_batch_with_kv", context_length=contexts["twice"], **model) < real_batch
print(f"balance batch: {real_batch:,.0f} without KV, {halfway:,.0f} at half the balance context")
print(f"at twice: {beyond.reason.message}")
print(f"with attention counted: {counted.reason.message}")
pd.DataFrame({"context [token]": contexts, "compute utilisation, very large batch": use})

# %% [markdown]
# ## 4. The cost of a token (0:12:40 to 0:15:29)
#
# The chips are paid by the second and the batch shares the bill. The cost falls with the batch and ends on a floor:
# the arithmetic, which nobody can share. The second column counts in units of the arithmetic with the weights, and
# attention comes on top of it. One sequence alone costs hundreds of times as much, though it reads only the experts that it
# uses. If it read all of them it would cost thousands. A batch well past the balance batch saves nothing more.
# Equations: `serving.cost_per_token`, `serving.normalised_cost`, and those of the sections above.

# %%
cost = {batch: 1e6 * value("cost_per_token", batch=batch, chip_price="2 USD/h", **serving) for batch in BATCHES}
over_floor = {batch: value("normalised_cost", batch=batch, context_length="1k", **model) for batch in BATCHES}
all_read = value("weight_compute_ratio", batch=1, using=["roofline.weight_time"], **model)

assert 200 < over_floor[1] < 1_000 < 2_000 < all_read and abs(cost[10_000] / cost[20_000] - 1) < 1e-9
assert 1 < over_floor[20_000] == over_floor[10_000] < 2
print(f"one sequence that reads every expert: {all_read:,.0f} times its arithmetic")
pd.DataFrame({"USD per million tokens": cost, "over the compute floor": over_floor}).rename_axis("batch")

# %% [markdown]
# As a picture, the fall and the floor.

# %%
bills = derive.solve("cost_per_token", batch="1..20k:log:25", chip_price="2 USD/h", **serving)
SVG(picture(sweep_charts([("", [bills])]), "svg"))

# %% [markdown]
# ## 5. A price sheet, and what the lecture reads off it (1:35:23 to 2:03:33)
#
# Now the blackboard is turned round. Prices are public; the model behind them is not.
# The sheet is that of Gemini 3.1 Pro. Above a threshold of prompt length both of its prices step up.
#
# Reading one (1:36:01): the threshold is where the KV read overtakes the arithmetic. That gives KV bytes per token.
# The active parameters are not public. Like the lecture we assume them, and the result is proportional to them.
#
# Reading two (1:47:56): an output token costs more than an input token because decode is bandwidth-bound.
# That gives the share of its compute that decode leaves idle.
#
# Reading three (2:00:37) takes the lifetime of a cache entry for a storage tier. This sheet sells no lifetimes.
# Equations: `readings.threshold_is_crossover`, `readings.bandwidth_bound_fraction`.

# %%
table = invert.infer(["gemini-3.1-pro"], anchors={"active_params": "100B"})  # what the lecture takes
sheet = table.inferences[0]
pair, anchors = sheet.pairs[0], sheet.anchors.values
threshold, ratio = pair.pair.long_context_threshold, pair.pair.output_input_ratio.value
prices = [(band.threshold_tokens, band.input.amount, band.output.amount) for band in sheet.sheet.bands]
print(f"{sheet.sheet.provider} {sheet.sheet.model}, prices of {table.as_of}, USD per million tokens")
print(pd.DataFrame(prices, columns=["above [token]", "input", "output"]).to_string(index=False))

assumed = {name: anchors[name] for name in ("active_params", "bytes_per_weight", "machine_balance_ratio")}
lecture_bytes = value("kv_bytes_per_token", using=["readings.threshold_is_crossover"], long_context_threshold=threshold, **assumed)
idle = value("bandwidth_bound_fraction", using=["readings.bandwidth_bound_fraction"], output_input_ratio=ratio)

assert lecture_bytes == pair.lecture.values["kv_bytes_per_token"] and idle == sheet.bandwidth_bound.values["bandwidth_bound_fraction"]
assert sheet.anchors.origin["active_params"] == "given" and not sheet.tiers
found = {"KV bytes per token": lecture_bytes, "output over input price": ratio, "bandwidth-bound fraction": idle}
pd.Series({**assumed, **found}).to_frame("value")

# %% [markdown]
# ## 6. Why the first two readings contradict each other
#
# Take reading one at its word. Below the threshold decode is bound by arithmetic, so an output token costs about what an
# input token does. Even at the threshold, and at the two or three balance batches of the lecture (0:19:41), memory takes
# little longer than arithmetic. Reading two needs it to take as many times longer as the price ratio says, at every length.
# One model cannot do both.
# Equations: `readings.output_input_ratio`, `batching.practical_batch`.

# %%
claims = {"using": ["readings.output_input_ratio", "batching.practical_batch"], "balance_batch": lecture_batch}
at_threshold = {
    f"by reading one, at {multiple} balance batches": value(
        "output_input_ratio", batch_multiple=multiple, context_length=threshold, balance_context=threshold, **claims
    )
    for multiple in (2, 3)
}

assert max(at_threshold.values()) < ratio / 2
pd.Series({**at_threshold, "on the price sheet": ratio}).to_frame("output over input price")

# %% [markdown]
# ## 7. The joint reading
#
# Two bands hold prices enough to drop the claim that the threshold is the crossover. The input premium gives the attention
# arithmetic. The two output prices give the memory time at two context lengths. The slope between them is the KV read, and
# what is left is the weight read. In exchange we assume the mean context of the requests in each band.
# The joint reading finds more KV bytes than reading one, and it leans hardest on the output premium.
# Equations: `bands.premium_in`, `bands.output_input_ratio`, `bands.premium_out`, `bands.decode_cost_short`,
# `bands.decode_cost_long`, `bands.balance_context`, `context.balance_context`.

# %%
joint_bytes = pair.joint.values["kv_bytes_per_token"]
slopes = pair.joint.solution.answers[0].elasticities
steepest = max(slopes, key=lambda name: abs(slopes[name]))

assert joint_bytes > lecture_bytes and steepest == "premium_out"
print(f"assumed band means [token]: {pair.pair.short_context:,.0f} and {pair.pair.long_context:,.0f}")
print(f"joint reading: {joint_bytes:,.0f} bytes per token, {joint_bytes / lecture_bytes:.2f} times reading one")
print(f"one percent on {steepest} moves it by {slopes[steepest]:.2g} percent")
pd.DataFrame([(leg.unknown, leg.value, leg.equation) for leg in pair.joint.solution.route], columns=["quantity", "SI value", "equation"])

# %% [markdown]
# ## 8. What each reading predicts
#
# A reading is useful if it predicts prices it did not use. To run the lecture's readings forward together,
# reading one gives the KV read and the price ratio gives the rest. They miss both premiums.
# The joint reading uses both premiums, so it must meet them. That leaves the storage price and the cache read to test it.
# It misses the storage price. A cache read is only bounded from below, so meeting that proves little.
# Equations: `readings.joint_intercept`, `bands.prefill_cost`, `bands.decode_cost`, `bands.storage_price`,
# `bands.cache_read_price`.

# %%
lecture, joint = ({check.component: check for check in found} for found in (pair.lecture_checks, pair.joint_checks))

assert not lecture["premium_in"].inside_rounding_cell and not lecture["premium_out"].inside_rounding_cell
assert {name for name, check in joint.items() if not check.used_by_reading} == {"storage_price", "cache_read_price"}
assert not joint["storage_price"].inside_rounding_cell and joint["cache_read_price"].bound
pd.DataFrame(
    {
        "published": {name: check.published for name, check in joint.items()},
        "lecture predicts": {name: check.predicted for name, check in lecture.items()},
        "lecture meets it": {name: check.inside_rounding_cell for name, check in lecture.items()},
        "joint predicts": {name: check.predicted for name, check in joint.items()},
        "joint meets it": {name: check.inside_rounding_cell for name, check in joint.items()},
    }
)

# %% [markdown]
# ## 9. What models of known architecture say
#
# Some sheets sell models whose configuration is public, so the KV bytes that decode reads are known, here at two bytes a value.
# The grade says whether the vendor names the architecture or only the model's name suggests it.
# Every one of them reads more than either reading finds, and most of them more than ten times as much.
# Equations: those of reading one, `readings.threshold_is_crossover`, and of the joint reading (section 7).

# %%
known = [one for one in invert.infer().inferences if one.known and one.pairs and one.pairs[0].joint.values]
compared = pd.DataFrame(
    {
        "architecture": [one.known.architecture for one in known],
        "grade": [one.known.grade for one in known],
        "KV bytes read per token": [one.known.read for one in known],
        "over reading one": [one.known.read / one.pairs[0].lecture.values["kv_bytes_per_token"] for one in known],
        "over the joint reading": [one.known.read / one.pairs[0].joint.values["kv_bytes_per_token"] for one in known],
    },
    index=pd.Index([one.sheet.model for one in known], name="price sheet"),
)
factors = compared[["over reading one", "over the joint reading"]]

assert (factors > 1).all(axis=None) and (factors.median() > 10).all()
assert balance_context < threshold / 10
print(f"balance context of DeepSeek-V3 (section 3): {balance_context:,.0f} tokens; threshold of Gemini 3.1 Pro: {threshold:,} tokens")
compared.sort_values("over reading one")

# %% [markdown]
# DeepSeek-V3 says the same from the other side. Its cache is public, and with it the balance context lies far below the
# threshold on the price sheet.
#
# So neither reading is a measurement. Both say what the prices would mean if price followed cost, and the models of known
# architecture say how far off that can be.
