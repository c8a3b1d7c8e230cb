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
# # Write up and cite
#
# This notebook goes from a claim in the lecture to a paragraph with numbers, formulas and references. It shows how each part is
# computed and cited. Everything that the catalogue has is printed, not typed.

# %%
from IPython.display import SVG, Markdown

import derive
import invert
from backsolve.figures.picture import picture
from derive.show.entry import derivation_in_latex
from derive.show.plot import sweep_charts

# %% [markdown]
# ## 1. The claim
#
# By the lecture the best batch is the machine balance ratio times the sparsity (0:17:56): `batching.balance_batch`.
# The catalogue has its derivation, step by step.

# %%
derive.equation("batching.balance_batch")

# %% [markdown]
# ## 2. The numbers
#
# For a real chip and a real model, `batching.balance_batch` uses `batching.machine_balance_ratio` and `batching.sparsity`.

# %%
answer = derive.solve("balance_batch", hardware="H100-SXM:fp8", model="DeepSeek-V3")
answer

# %% [markdown]
# ## 3. The formula in a paper
#
# The derivation of `batching.balance_batch` as LaTeX.

# %%
print(derivation_in_latex(derive.equation("batching.balance_batch")))

# %% [markdown]
# ## 4. The sentence
#
# Computed numbers in a text stay right when a table changes, because each run solves `batching.balance_batch` again.

# %%
lecture = derive.solve("balance_batch", machine_balance_ratio=300, sparsity=8)
Markdown(
    f"The lecture's round figures give a balance batch of {lecture.value:,.0f} sequences; the data sheet of the H100 and the"
    f" parameters of DeepSeek-V3 give {answer.value:,.0f}."
)

# %% [markdown]
# ## 5. The figure
#
# A larger batch lowers `serving.cost_per_token` until arithmetic binds. `backsolve plot cost-batch` writes such a picture to a file, as
# SVG or PNG.

# %%
served = {"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "chips": 64, "context_length": "1k", "chip_price": "2 USD/h"}
SVG(picture(sweep_charts([("", [derive.solve("cost_per_token", **served, batch="1..16k:log:25")])]), "svg"))

# %% [markdown]
# ## 6. The references
#
# Every equation of an answer is cited by id and version: `batching.balance_batch` and the equations that lead to it. There are styles
# for papers, notebooks and web pages.

# %%
used = [reference.partition("@")[0] for reference in answer.equations]
for id in used:
    print(derive.cite(id, "bibtex"), end="\n\n")

# %% [markdown]
# ## 7. Prices
#
# A reading of prices cites its equations, here `readings.bandwidth_bound_fraction`, and the page of the prices with its grade and the day
# on which it was read.

# %%
(sheet,) = invert.infer(["gemini-3.1-pro"])
price = sheet.sheet.bands[0].output
print(f"{sheet.name}: {price.amount:g} {price.currency} per million output tokens, graded {price.verification}, {price.source_url}")
print(derive.cite(sheet.bandwidth_bound.solution.equations[0].partition("@")[0]))
