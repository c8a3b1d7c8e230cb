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
# Prices can be read in several ways, and each way is plausible. This notebook compares them: on one sheet, on all sheets of models
# with public architecture, and with the other prices of these sheets.

# %%
from math import log

import pandas as pd
from IPython.display import SVG

import derive
import invert
from backsolve.figures.picture import picture
from backsolve.figures.sheets import kv_by_estimator, predicted_over_true, tornado
from invert.data import read_data
from invert.estimators.known import predictions_of_known

pd.set_option("display.float_format", lambda x: f"{x:.3g}")
(sheet,) = invert.infer(["gemini-3.1-pro"])

# %% [markdown]
# ## 1. Two readings of one lecture
#
# By the threshold, decode is compute-bound below it: `readings.threshold_is_crossover`. By the output price, decode is memory-bound at
# every length: `readings.bandwidth_bound_fraction`. By the first reading an output token would cost about the same as an input token,
# but its price is several times higher.

# %%
pair = sheet.pairs[0]
assert pair.claimed_ratio < pair.pair.output_input_ratio.value
print(f"output over input by the first: {pair.claimed_ratio:.2f}, as asked: {pair.pair.output_input_ratio.value:g}")

# %% [markdown]
# ## 2. Three ways to pay for a premium
#
# How does the price of more context follow from cost? By one price/cost on everything, at rental cost, or by price/cost of known models.
# Each gives KV bytes with a range, and the ranges hardly overlap. The last two use `bands.kv_bytes_from_increment`.

# %%
medians = {name: one.median for name, one in sheet.kv_bytes.items() if one.kind == "interval"}
apart = max(medians.values()) / min(medians.values())
assert apart > 10
print(f"medians lie a factor of {apart:.0f} apart, {log(apart):.1f} nats")
SVG(picture([kv_by_estimator(sheet)], "svg"))

# %% [markdown]
# ## 3. What moves one of them
#
# Each of these answers depends on outside facts. Each bar moves one fact from one end of its range to the other:
# the size of the model, the rates of prefill and decode, or the mean contexts of the bands. `bands.balance_context` shows why.

# %%
SVG(picture([tornado(sheet)], "svg"))

# %% [markdown]
# ## 4. Where the truth is known
#
# If the architecture of a model is public, an equation gives its cache, for most models `architecture.kv_bytes_gqa`. Every estimator reads
# their sheets like any other. On the dotted line an estimate is right. The ranges by one price/cost on everything, which the lecture's
# readings assume, contain the true value of none of them.

# %%
judged = predictions_of_known(read_data())
rows = [(one.by, one.model, one.median / one.truth, one.right) for one in judged]
ranges = pd.DataFrame(rows, columns=["by", "model", "over truth", "right"])
assert ranges[ranges.by == "KV from all prices"].right.sum() == 0
SVG(picture([predicted_over_true("KV bytes of known models: predicted over true", judged)], "svg"))

# %%
ranges.groupby("by", sort=False).agg(models=("model", "count"), right=("right", "sum"), median_over_truth=("over truth", "median"))

# %% [markdown]
# ## 5. What a reading has to predict
#
# A right reading predicts the prices that it did not use. The lecture's reading of the threshold misses both premiums. The joint reading,
# with `bands.premium_out` among its equations, uses the prices that could test it.

# %%
rows = [(name, one.component, one.published, one.predicted, one.used_by_reading, one.inside_rounding_cell)
        for name, found in (("lecture", pair.lecture_checks), ("joint", pair.joint_checks)) for one in found]  # fmt: skip
checks = pd.DataFrame(rows, columns=["reading", "component", "published", "predicted", "used", "met"])
missed = checks[(checks.reading == "lecture") & ~checks.used & ~checks.met]
assert {"premium_in", "premium_out"} <= {*missed.component}
checks

# %% [markdown]
# So none of these readings is a measurement. The best estimate for the cache of a closed model is the typical KV: the baseline of the
# models released before, with the range of its record. Each equation above can be cited with its source.

# %%
print(sheet.kv_bytes["typical"])
print(derive.cite("readings.threshold_is_crossover"))
