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
# The lecture's equations go from a deployment to its step time and its cost. To size a deployment, we ask the other way:
# which batch meets a cost, which context meets a step time, and how many chips meet both. Each cell asks the same equations.
# A solution shows every step with its numbers and their sources.

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
# In `serving.cost_per_token` the batch appears twice: it shares the bill, and it changes the step time.
# So step time, memory time, KV time and compute time are solved together.

# %%
derive.solve("batch", **rented, chips=16, cost_per_token="0.1 USD/MTok")

# %% [markdown]
# With this batch the cost is the one that we asked for.

# %%
batch = derive.solve("batch", **rented, chips=16, cost_per_token="0.1 USD/MTok")
cost = derive.solve("cost_per_token", **rented, chips=16, batch=batch.answers[0].value).answers[0].value
assert abs(cost / 1e-7 - 1) < 1e-9
print(f"{1e6 * cost:.6f} USD/MTok")

# %% [markdown]
# ## 2. Chips and batch from a cost and a step time
#
# Two results determine two inputs, and each input can be the unknown. Only one pair satisfies `serving.cost_per_token` and
# `roofline.step_time`.

# %%
targets = {"cost_per_token": "0.3 USD/MTok", "step_time": "16 ms"}
chips, batch = (derive.solve(unknown, **rented, **targets) for unknown in ("chips", "batch"))
print(f"{chips.answers[0].value:.1f} chips and a batch of {batch.answers[0].value:.0f}, where {chips.answers[0].regime}")

# %% [markdown]
# ## 3. What does not fit
#
# Before a time is computed, weights and caches are compared with the memory: `memory.demand`, `memory.capacity`.

# %%
derive.solve("step_time", **model, chips=16, batch="24k")

# %% [markdown]
# ## 4. Ranges and sweeps
#
# An uncertain input can be a range. Then `roofline.step_time` has two ends, and the answer names the range that matters most.

# %%
derive.solve("step_time", **model, chips=16, batch="100..2000", mbu="0.7±0.1")

# %% [markdown]
# A sweep is a table. Its columns are arrays.

# %%
cheaper = derive.solve("cost_per_token", **rented, chips=16, batch="1..4096:log:13")
table = cheaper.sweep
assert (table.values[0, 1:] < table.values[0, :-1]).all(), "a larger batch is cheaper all the way"
SVG(picture(sweep_charts([("", [cheaper])]), "svg"))
