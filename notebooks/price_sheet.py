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
# # A price sheet, by hand and by machine
#
# This notebook reads one price sheet, that of Gemini 3.1 Pro: first by hand, one equation at a time, then with `infer`, which must give
# the same numbers. The figures at the end show how far to trust them.

# %%
from IPython.display import SVG

import derive
import invert
from backsolve.figures.picture import picture
from backsolve.figures.sheets import cost_context, kv_by_estimator, size_price

table = invert.infer(["gemini-3.1-pro"])
(sheet,) = table
for band in sheet.sheet.bands:
    print(f"above {band.threshold_tokens:,} tokens: {band.input.amount:g} in, {band.output.amount:g} out, USD per million tokens")

# %% [markdown]
# ## 1. The output over the input price, by hand
#
# By the lecture this ratio is the memory time over the compute time (1:47:56): `readings.bandwidth_bound_fraction`.

# %%
base, above = sheet.sheet.bands
ratio = base.output.amount / base.input.amount
idle = derive.solve("bandwidth_bound_fraction", output_input_ratio=ratio, using=["readings.bandwidth_bound_fraction"])
assert idle.value == sheet.bandwidth_bound.values["bandwidth_bound_fraction"]
print(f"output over input {ratio:g}: decode leaves {idle.value:.0%} of its compute idle, if prices are costs")

# %% [markdown]
# ## 2. The threshold, by hand
#
# By the lecture, cache reads overtake arithmetic at the threshold of the price (1:36:01): `readings.threshold_is_crossover`.
# The size of the model is not public. The cell assumes one, as the lecture does.

# %%
reading = sheet.pairs[0].lecture
facts = {name: reading.solution.given[name] for name in ("active_params", "bytes_per_weight", "machine_balance_ratio")}
facts["long_context_threshold"] = above.threshold_tokens
cache = derive.solve("kv_bytes_per_token", **facts, using=["readings.threshold_is_crossover"])
assert cache.value == reading.values["kv_bytes_per_token"]
print(f"{facts['active_params'] / 1e9:g}B active: {cache.value:,.0f} bytes of cache for a token of context")

# %% [markdown]
# ## 3. Both premiums together
#
# Two bands tell more: the input premium gives the arithmetic of attention, and both output prices give the reads. Six equations are
# solved one after another. The last one is `context.balance_context`, and each step can be read.

# %%
joint = sheet.pairs[0].joint
for leg in joint.solution.route:
    print(f"{leg.unknown:<26} {leg.value:>12.4g}   {leg.equation}")

# %% [markdown]
# ## 4. By machine
#
# One call of `infer` computes all of this. Every estimate also has a range, with the record of such ranges for known models.
# It uses further equations, such as `bands.price`.

# %%
sheet

# %% [markdown]
# ## 5. The prices as a picture
#
# The bands are steps. The dashed lines are the prices by the joint reading at every context: `bands.decode_cost` at one price/cost.

# %%
SVG(picture([cost_context(sheet)], "svg"))

# %% [markdown]
# ## 6. How big, and how much cache
#
# An input price is some evidence of the size. `serving.price_per_flop` would give the size if price/cost were known. Without it, open
# models of that price give a range. A price tells almost nothing about the cache beyond the models released before.

# %%
SVG(picture([size_price([sheet])], "svg"))

# %%
SVG(picture([kv_by_estimator(sheet)], "svg"))
