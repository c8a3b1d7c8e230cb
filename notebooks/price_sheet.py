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
# One price sheet, that of Gemini 3.1 Pro: first every reading by hand, one equation at a time, then by machine, which must come to
# the same. After that the figures of the sheet, which say how far to believe any of it.

# %%
from IPython.display import SVG

import derive
import invert
from backsolve.figures.picture import picture
from invert.report.figures import cost_context, kv_by_estimator, size_price

table = invert.infer(["gemini-3.1-pro"])
(sheet,) = table
for band in sheet.sheet.bands:
    print(f"above {band.threshold_tokens:,} tokens: {band.input.amount:g} in, {band.output.amount:g} out, USD per million tokens")

# %% [markdown]
# ## 1. The output over the input price, by hand
#
# The lecture takes it for how much longer memory takes than arithmetic (1:47:56): `readings.bandwidth_bound_fraction`.

# %%
base, above = sheet.sheet.bands
ratio = base.output.amount / base.input.amount
idle = derive.solve("bandwidth_bound_fraction", output_input_ratio=ratio, using=["readings.bandwidth_bound_fraction"])
assert idle.value == sheet.bandwidth_bound.values["bandwidth_bound_fraction"]
print(f"output over input {ratio:g}: decode leaves {idle.value:.0%} of its compute idle, if prices are costs")

# %% [markdown]
# ## 2. The threshold, by hand
#
# Where the price steps up, the lecture says, cache reads overtake arithmetic (1:36:01): `readings.threshold_is_crossover`.
# Nobody states the size of the model; like the lecture the cell takes one.

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
# Two bands give more: the input premium the arithmetic of attention, both output prices the reads. Six equations solved one after
# another, the last of them `context.balance_context`, and each leg is there to be read.

# %%
joint = sheet.pairs[0].joint
for leg in joint.solution.route:
    print(f"{leg.unknown:<26} {leg.value:>12.4g}   {leg.equation}")

# %% [markdown]
# ## 4. By machine
#
# One call to infer did all of that, and more: every estimate has a range, beside how often ranges like it held where the truth is known.
# It rests on more equations than those above, `bands.price` for one.

# %%
sheet

# %% [markdown]
# ## 5. The prices as a picture
#
# The bands are steps; the dashed lines are what the joint reading makes of them at every context, `bands.decode_cost` at one mark-up.

# %%
SVG(picture([cost_context(sheet)], "svg"))

# %% [markdown]
# ## 6. How big, and how much cache
#
# An input price is some evidence of size: `serving.price_per_flop` would give it if mark-ups were known, and open models of that price
# show what can be said without. Of the cache a price says next to nothing beyond what models of its time have.

# %%
SVG(picture([size_price([sheet])], "svg"))

# %%
SVG(picture([kv_by_estimator(sheet)], "svg"))
