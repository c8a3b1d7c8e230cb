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
# # The scoreboard
#
# An estimator is as good as its predictions for models that it has not seen. Here every estimator is compared with public architectures
# and stated sizes. The family of each model, or all later models, are left out of the fit.

# %%
from math import log

import pandas as pd
from IPython.display import SVG

from backsolve.figures.picture import picture
from backsolve.figures.sheets import predicted_against_true, predicted_over_true, reliability
from invert.data import read_data
from invert.estimators.known import predictions_of_known
from invert.estimators.size import judged_sizes
from invert.validation.scoreboard import section_rows

data = read_data()
skill = section_rows("skill", data)

# %% [markdown]
# ## 1. How often ranges held
#
# A fair range contains the true value as often as it promises. The ranges by one price/cost (`bands.output_input_ratio` and the equations
# with it) contain it far less often. The sizes by price keep their promise.

# %%
SVG(picture([reliability(skill)], "svg"))

# %% [markdown]
# ## 2. What is gained over knowing nothing
#
# Each estimator is compared with a baseline: the models released before, without any price. The gain is in mean log density.
# No reading of a premium (`bands.premium_in`, `bands.premium_out`) has a gain. Sizes by price have one.

# %%
gains = pd.DataFrame(skill)[["estimate", "left out", "models", "families", "rms", "class", "gain", "standard error"]].dropna()
sizes, caches = (gains[gains.estimate.str.startswith(begin)] for begin in ("active", "KV"))
assert (sizes.gain > sizes["standard error"]).all() and (caches[caches["left out"] == "family"].gain < 0).all()
gains

# %% [markdown]
# ## 3. Sizes, predicted against true
#
# Every open model by the price of its maker, with its price family left out of the fit. If prices followed the cost of arithmetic alone
# (`serving.price_per_flop`), all points would lie on the line.

# %%
SVG(picture([predicted_against_true("Active parameters by price", "active_params", judged_sizes(data))], "svg"))

# %% [markdown]
# ## 4. Caches, predicted over true
#
# The same for KV bytes, by every estimator that reads prices. The true values are by `architecture.kv_bytes_gqa` and similar equations.

# %%
SVG(picture([predicted_over_true("KV bytes of known models", predictions_of_known(data))], "svg"))

# %% [markdown]
# ## 5. The misses
#
# A scoreboard has to show its misses. These sizes are outside their ranges, the worst first. If a model costs far more or far less than
# others with the same arithmetic (`serving.price_per_flop`), its price does not reveal its size.

# %%
missed = sorted((one for one in judged_sizes(data) if not one.right), key=lambda one: -abs(log(one.median / one.truth)))
assert missed
rows = [(one.model, one.by, *(size / 1e9 for size in (one.truth, one.median, one.low, one.high))) for one in missed]
pd.DataFrame(rows, columns=["model", "by", "true [B]", "predicted [B]", "low [B]", "high [B]"]).round(1)

# %% [markdown]
# ## 6. The sampler itself
#
# The sampler is tested without real prices: sheets are simulated from the priors, and the ranges must contain the numbers behind each
# sheet. A deliberate fault must show: here the assumed noise of the premiums (`bands.premium_out`) is too small.

# %%
pd.DataFrame(section_rows("calibration", data))[["run", "quantity", "simulations", "coverage_50", "coverage_90", "verdict"]]
