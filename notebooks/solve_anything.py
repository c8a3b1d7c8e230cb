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
# # Solve anything
#
# Every quantity of every equation can be the unknown: what is given decides, not how the equation was written down.
# Each cell below asks one question and puts the answer back in, or asks it another way. `derive.solve` is all that is called.

# %%
from IPython.display import SVG

import derive
from backsolve.figures.picture import picture
from derive.show.plot import roofline, sweep_charts
from derive.show.roofline import known_numbers, roof

chip = {"hardware": "H100-SXM:fp8"}
served = {**chip, "model": "DeepSeek-V3", "bytes_per_element": 1, "context_length": "8k", "chips": 64}


def value(unknown, **given):
    """The one number of an answer, in SI units."""
    return derive.solve(unknown, **given).value


# %% [markdown]
# ## 1. One equation, each of its quantities
#
# The balance batch, `batching.balance_batch`, is the machine balance ratio times the sparsity. Whatever is left out is found.

# %%
known = {"machine_balance_ratio": 300.0, "sparsity": 8.0, "bytes_per_weight": 1.0}
known["balance_batch"] = value("balance_batch", **known)
for unknown in ("machine_balance_ratio", "sparsity"):
    found = value(unknown, **{name: known[name] for name in known if name != unknown})
    assert abs(found / known[unknown] - 1) < 1e-9
    print(f"{unknown}: {found:g}")

# %% [markdown]
# ## 2. Through many equations at once
#
# A step time needs arithmetic, weight reads and cache reads, and each of those needs a chip and a model: `roofline.step_time`
# and all that it rests on join by themselves. The answer shows every number on the way.

# %%
step = derive.solve("step_time", **served, batch=256)
step

# %% [markdown]
# The numbers on the way are also those of a roofline: the roof of the chip, and the point that the step works at.

# %%
SVG(picture([roofline([roof("H100", known_numbers(step))])], "svg"))

# %% [markdown]
# ## 3. Backwards through all of them
#
# How large may the batch be for a step of that length? The unknown now stands in several equations, and they are solved together.
# The batch that comes out has the step time that was asked for: `roofline.step_time` once more.

# %%
step_time = step.value
batch = value("batch", **served, step_time=step_time)
assert abs(batch / 256 - 1) < 1e-9
print(f"a step of {1e3 * step_time:.3f} ms: a batch of {batch:.0f}")

# %% [markdown]
# A given may be a sweep, and the answer is a curve. Short steps read few experts, and each sequence more brings others; where all of them
# are read anyway, a little more time takes many more sequences. The curve ends where their caches no longer fit.

# %%
SVG(picture(sweep_charts([("", [derive.solve("batch", **served, step_time="1..80 ms:log:25")])]), "svg"))

# %% [markdown]
# ## 4. Where only a bound is known
#
# A quantity in the term that does not bind can be anything up to a value. The answer is then an interval, with the regime that
# it holds in: `roofline.step_time` does not tell the compute time of a step that waits for memory.

# %%
hidden = derive.solve("compute_time", step_time="10 ms", memory_time="10 ms")
(answer,) = hidden.answers
assert answer.kind == "interval" and answer.high == 0.01
hidden

# %% [markdown]
# ## 5. Where there is no answer
#
# What cannot be is refused with the reason: `batching.balance_batch_with_kv` has no balance batch beyond the balance context.

# %%
far = {**served, "context_length": "100k", "attention_flops_per_pair": 0}
refused = derive.solve("balance_batch_with_kv", **far)
assert not refused.answers
print(refused.reason.message)

# %% [markdown]
# ## 6. A formula for an answer
#
# Symbols may be given in the place of numbers. The answer is then a formula of SymPy: `batching.balance_batch` for sparsity.

# %%
s = derive.symbols
derive.solve("sparsity", balance_batch=s.balance_batch, machine_balance_ratio=s.machine_balance_ratio, bytes_per_weight=1).answers[0].expr
