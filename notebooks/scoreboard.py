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
# An estimate is worth what it got right of models that it had not seen. Here every estimator is held against public architectures and
# against sizes that were stated, with the family of a model, or all that came later, left out of what is learned.

# %%
from math import log

import pandas as pd
from IPython.display import SVG

from backsolve.figures.picture import picture
from invert.data import read_data
from invert.estimators.known import judgements
from invert.estimators.market.line import judged_sizes
from invert.report.figures import foretold_against_true, foretold_over_true, reliability
from invert.validation.scoreboard import section_rows

data = read_data()
skill = section_rows("skill", data)

# %% [markdown]
# ## 1. How often ranges held
#
# A fair range holds the truth as often as it says. Those of one mark-up, `bands.output_input_ratio` and what goes with it, hold far less
# often; sizes by price hold as often as they claim.

# %%
SVG(picture([reliability(skill)], "svg"))

# %% [markdown]
# ## 2. What is gained over knowing nothing
#
# Beside each estimator stands the class: what models of that time have, without a look at the price. The gain is in mean log density.
# No reading of a premium, `bands.premium_in` or `bands.premium_out`, gains anything; sizes by price do.

# %%
gains = pd.DataFrame(skill)[["estimate", "left out", "models", "families", "rms", "class", "gain", "standard error"]].dropna()
sizes, caches = (gains[gains.estimate.str.startswith(begin)] for begin in ("active", "KV"))
assert (sizes.gain > sizes["standard error"]).all() and (caches[caches["left out"] == "family"].gain < 0).all()
gains

# %% [markdown]
# ## 3. Sizes, foretold against true
#
# Every open model by the price of its maker, its price family left out. Were prices what the arithmetic costs and nothing else,
# `serving.price_per_flop`, all points would lie on the line.

# %%
SVG(picture([foretold_against_true("Active parameters by price", "active_params", judged_sizes(data))], "svg"))

# %% [markdown]
# ## 4. Caches, foretold over true
#
# The same for KV bytes by every estimator that reads prices, against `architecture.kv_bytes_gqa` and its kin.

# %%
SVG(picture([foretold_over_true("KV bytes of known models", judgements(data))], "svg"))

# %% [markdown]
# ## 5. The misses
#
# A scoreboard that hides its misses is none. These sizes lie outside their ranges, the worst first: a model that is sold far above or
# below what others ask for such arithmetic, `serving.price_per_flop`, cannot be told by its price.

# %%
missed = sorted((one for one in judged_sizes(data) if not one.held), key=lambda one: -abs(log(one.median / one.truth)))
assert missed
rows = [(one.model, one.by, *(size / 1e9 for size in (one.truth, one.median, one.low, one.high))) for one in missed]
pd.DataFrame(rows, columns=["model", "by", "true [B]", "foretold [B]", "low [B]", "high [B]"]).round(1)

# %% [markdown]
# ## 6. The sampler itself
#
# Before any price is read the machine has to find what it was told: sheets are made up from the priors, and ranges must hold the numbers
# that they were made from. With a fault put in, the noise of premiums `bands.premium_out` taken too small, it has to show.

# %%
pd.DataFrame(section_rows("calibration", data))[["run", "quantity", "simulations", "coverage_50", "coverage_90", "verdict"]]
