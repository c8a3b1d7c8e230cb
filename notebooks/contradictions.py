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
# # Where readings contradict each other
#
# Prices can be read in several ways, each plausible by itself. This notebook puts them side by side: on one sheet, over all sheets
# whose architecture is public, and against what else those sheets say.

# %%
from math import log

import pandas as pd
from IPython.display import SVG

import derive
import invert
from backsolve.figures.picture import picture
from invert.data import read_data
from invert.estimators.known import judgements
from invert.report.figures import foretold_over_true, kv_by_estimator, tornado

pd.set_option("display.float_format", lambda x: f"{x:.3g}")
(sheet,) = invert.infer(["gemini-3.1-pro"])

# %% [markdown]
# ## 1. Two readings of one lecture
#
# By the threshold decode is bound by arithmetic below it: `readings.threshold_is_crossover`. By the output price it waits for memory at
# every length: `readings.bandwidth_bound_fraction`. The first makes an output token cost about what an input token does, and the sheet
# asks several times as much.

# %%
pair = sheet.pairs[0]
assert pair.claimed_ratio < pair.pair.output_input_ratio.value
print(f"output over input by the first: {pair.claimed_ratio:.2f}, as asked: {pair.pair.output_input_ratio.value:g}")

# %% [markdown]
# ## 2. Three ways to pay for a premium
#
# What is paid with the price of more context? One mark-up on everything, rental cost, or the mark-up that known models show. Each gives
# KV bytes with a range, and the ranges hardly overlap: `bands.kv_bytes_from_increment` is what the last two rest on.

# %%
medians = {name: one.median for name, one in sheet.kv_bytes.items() if one.kind == "interval"}
apart = max(medians.values()) / min(medians.values())
assert apart > 10
print(f"medians lie a factor of {apart:.0f} apart, {log(apart):.1f} nats")
SVG(picture([kv_by_estimator(sheet)], "svg"))

# %% [markdown]
# ## 3. What moves one of them
#
# Even within one way the answer hangs on outside facts. Each bar moves one of them from one end of its range to the other:
# the size of the model, the rates of prefill and decode, the mean contexts of the bands. `bands.balance_context` says why.

# %%
SVG(picture([tornado(sheet)], "svg"))

# %% [markdown]
# ## 4. Where the truth is known
#
# Models whose architecture is public have a cache that an equation gives, `architecture.kv_bytes_gqa` for most. Every estimator reads
# their sheets as any other. One is right; one mark-up on everything, which the lecture's readings assume, holds the truth for none of them.

# %%
judged = judgements(read_data())
rows = [(one.by, one.model, one.median / one.truth, one.held) for one in judged]
held = pd.DataFrame(rows, columns=["by", "model", "over truth", "held"])
assert held[held.by == "one mark-up"].held.sum() == 0
SVG(picture([foretold_over_true("KV bytes of known models: foretold over true", judged)], "svg"))

# %%
held.groupby("by", sort=False).agg(models=("model", "count"), held=("held", "sum"), median_over_truth=("over truth", "median"))

# %% [markdown]
# ## 5. What a reading has to predict
#
# A reading that is right predicts the prices it did not use. The lecture's reading of the threshold misses both premiums, and the joint
# reading, `bands.premium_out` among its equations, uses up what could test it.

# %%
rows = [(name, one.component, one.published, one.predicted, one.used_by_reading, one.inside_rounding_cell)
        for name, found in (("lecture", pair.lecture_checks), ("joint", pair.joint_checks)) for one in found]  # fmt: skip
checks = pd.DataFrame(rows, columns=["reading", "component", "published", "predicted", "used", "met"])
missed = checks[(checks.reading == "lecture") & ~checks.used & ~checks.met]
assert {"premium_in", "premium_out"} <= {*missed.component}
checks

# %% [markdown]
# So none of these is a measurement. What can be said of the cache of a closed model is what models of its time have, with the range
# that such foretelling has earned: the headline. Each equation above can be cited with its source.

# %%
print(sheet.kv_bytes["headline"])
print(derive.cite("readings.threshold_is_crossover"))
