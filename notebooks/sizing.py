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
# # Sizing a deployment, backwards
#
# The lecture's equations run from a deployment to its step time and its cost. Somebody who sizes one asks the other way:
# which batch meets a cost, which context a step time, how many chips both. Each cell is one question to the same equations.
# A solution shows itself as mathematics, with a table of every number and where it is from.

# %%
from IPython.display import SVG

import derive
from backsolve.figures.picture import picture
from derive.show.plot import sweep_charts

model = {"model": "DeepSeek-V3", "hardware": "H100-SXM:fp8", "bytes_per_element": 1, "context_length": "4k"}
rented = {**model, "chip_price": "2 USD/h"}

# %% [markdown]
# ## 1. A batch for a cost
#
# `serving.cost_per_token` holds the batch twice: in the bill that it shares, and in the step time.
# Step time, memory time, KV time and compute time are solved together for it.

# %%
derive.solve("batch", **rented, chips=16, cost_per_token="0.1 USD/MTok")

# %% [markdown]
# Put back in, it costs what was asked for.

# %%
batch = derive.solve("batch", **rented, chips=16, cost_per_token="0.1 USD/MTok")
cost = derive.solve("cost_per_token", **rented, chips=16, batch=batch.answers[0].value).answers[0].value
assert abs(cost / 1e-7 - 1) < 1e-9
print(f"{1e6 * cost:.6f} USD/MTok")

# %% [markdown]
# ## 2. Chips and batch from a cost and a step time
#
# Two results fix two inputs; either can be asked for: `serving.cost_per_token` and `roofline.step_time` hold for one pair.

# %%
targets = {"cost_per_token": "0.3 USD/MTok", "step_time": "16 ms"}
chips, batch = (derive.solve(unknown, **rented, **targets) for unknown in ("chips", "batch"))
print(f"{chips.answers[0].value:.1f} chips and a batch of {batch.answers[0].value:.0f}, where {chips.answers[0].regime}")

# %% [markdown]
# ## 3. What does not fit
#
# Weights and caches are held against the memory before any time is told: `memory.demand`, `memory.capacity`.

# %%
derive.solve("step_time", **model, chips=16, batch="24k")

# %% [markdown]
# ## 4. Ranges and sweeps
#
# What is not known to a figure may be a range. `roofline.step_time` then has ends, and says which range matters most.

# %%
derive.solve("step_time", **model, chips=16, batch="100..2000", mbu="0.7±0.1")

# %% [markdown]
# A sweep is a table; the columns are arrays.

# %%
cheaper = derive.solve("cost_per_token", **rented, chips=16, batch="1..4096:log:13")
table = cheaper.sweep
assert (table.values[0, 1:] < table.values[0, :-1]).all(), "a larger batch is cheaper all the way"
SVG(picture(sweep_charts([("", [cheaper])]), "svg"))
