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
# Every quantity of every equation can be the unknown. The inputs decide, not the form in which the equation is written.
# Each cell asks one question and checks the answer, or asks it in another way. All cells call only `derive.solve`.

# %%
from IPython.display import SVG

import derive
from backsolve.figures.picture import picture
from derive.show.plot import known_numbers, roof, roofline, sweep_charts

chip = {"hardware": "H100-SXM:fp8"}
served = {**chip, "model": "DeepSeek-V3", "bytes_per_element": 1, "context_length": "8k", "chips": 64}


def value(unknown, **given):
    """The one number of an answer, in SI units."""
    return derive.solve(unknown, **given).value


# %% [markdown]
# ## 1. One equation, each of its quantities
#
# The balance batch, `batching.balance_batch`, is the machine balance ratio times the sparsity. We leave out one of the three
# and solve for it.

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
# A step time needs arithmetic, weight reads and cache reads, and each of them needs a chip and a model. The solver finds the
# equations that lead to `roofline.step_time`. The answer shows every number on the way.

# %%
step = derive.solve("step_time", **served, batch=256)
step

# %% [markdown]
# The same numbers give a roofline: the roof of the chip, and the point at which the step works.

# %%
SVG(picture([roofline([roof("H100", known_numbers(step))])], "svg"))

# %% [markdown]
# ## 3. Backwards through all of them
#
# How large can the batch be for a step of that length? The unknown is in several equations, and they are solved together.
# With the resulting batch, `roofline.step_time` gives the step time that we asked for.

# %%
step_time = step.value
batch = value("batch", **served, step_time=step_time)
assert abs(batch / 256 - 1) < 1e-9
print(f"a step of {1e3 * step_time:.3f} ms: a batch of {batch:.0f}")

# %% [markdown]
# An input can be a sweep, and then the answer is a curve. A short step reads few experts, and each further sequence activates others.
# Once all experts are read, a little more time serves many more sequences. The curve ends where their caches no longer fit.

# %%
SVG(picture(sweep_charts([("", [derive.solve("batch", **served, step_time="1..80 ms:log:25")])]), "svg"))

# %% [markdown]
# ## 4. Where only a bound is known
#
# A quantity in the term that does not bind can have any value up to a limit. Then the answer is an interval with its regime:
# `roofline.step_time` does not determine the compute time of a memory-bound step.

# %%
hidden = derive.solve("compute_time", step_time="10 ms", memory_time="10 ms")
(answer,) = hidden.answers
assert answer.kind == "interval" and answer.high == 0.01
hidden

# %% [markdown]
# ## 5. Where there is no answer
#
# If there is no answer, the solver gives the reason: by `batching.balance_batch_with_kv` there is no balance batch beyond the
# balance context.

# %%
far = {**served, "context_length": "100k", "attention_flops_per_pair": 0}
refused = derive.solve("balance_batch_with_kv", **far)
assert not refused.answers
print(refused.reason.message)

# %% [markdown]
# ## 6. A formula for an answer
#
# Inputs can be symbols instead of numbers. Then the answer is a formula of SymPy: here `batching.balance_batch` for the sparsity.

# %%
s = derive.symbols
derive.solve("sparsity", balance_batch=s.balance_batch, machine_balance_ratio=s.machine_balance_ratio, bytes_per_weight=1).answers[0].expr
