"""Symbols for givens: the formula, put to numbers, is the answer that these numbers have."""

import pytest
from sympy import Symbol, sstr

from derive import solve, symbols
from derive.errors import WrongValue

DEPLOYED = {"hardware": "H100-SXM:bf16", "model": "Llama-3.1-70B", "chips": 8, "bytes_per_element": 2}
SPARSE = {"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "chips": 16, "bytes_per_element": 1, "context_length": 4000}
QUESTIONS = {
    "forwards, with the larger of two times": ("step_time", DEPLOYED, {"batch": 64, "context_length": 4096}),
    "through a block": ("batch", DEPLOYED | {"context_length": 4096}, {"step_time": 0.02}),
    "a price": ("cost_per_token", DEPLOYED | {"batch": 64, "context_length": 4096}, {"chip_price": 2 / 3600}),
    "isolated from a product": ("active_params", {"machine_balance_ratio": 300, "total_params": 1e11}, {"balance_batch": 2400}),
    "out of an exponent": ("batch", {"experts": 256, "active_experts": 8}, {"activated_experts": 100}),
    "a power of 256": ("step_time", {**SPARSE, "batch": 256}, {"experts": 256}),
    "beside a long fraction": ("step_time", {**SPARSE, "batch": 4096}, {"hbm_bandwidth": 3.35e12}),
    "two symbols at once": ("balance_batch", {}, {"machine_balance_ratio": 300, "sparsity": 8}),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_formula_at_numbers_is_the_answer_at_numbers(name):
    unknown, given, numbers = QUESTIONS[name]
    (formula,) = solve(unknown, **given, **{name: symbols[name] for name in numbers}).answers
    assert formula.kind == "symbolic" and formula.formula == sstr(formula.expr, full_prec=False)
    assert formula.expr.free_symbols == {symbols[name] for name in numbers}
    at = float(formula.expr.subs({symbols[name]: value for name, value in numbers.items()}))
    assert at == pytest.approx(solve(unknown, **given, **numbers, anyway=True).value, rel=1e-12)


def test_a_regime_that_numbers_rule_out_has_no_formula():
    """Of 20 ms, 0.1 ms goes into compute: the times of memory are the larger, whatever the symbol."""
    found = solve("kv_time", compute_time=1e-4, attention_time=0, step_time=0.02, weight_time=symbols.weight_time)
    assert [str(one.expr) for one in found.answers] == ["0.02 - weight_time"]
    both = solve("memory_time", compute_time=symbols.compute_time, attention_time=0, step_time=0.02)
    assert [(one.formula, one.regime) for one in both.answers] == [("0.02", "memory_time >= compute_time")]


def test_other_symbols_and_expressions_are_taken():
    (answer,) = solve("active_params", balance_batch=Symbol("L") / 2, machine_balance_ratio=300, total_params=1e11).answers
    assert answer.expr == 60_000_000_000_000 / Symbol("L") and answer.latex == r"\frac{60000000000000}{L}"


def test_what_cannot_be_is_refused():
    for given in ({"batch": symbols.batch, "B": 8}, {"step_time": symbols.step_time}, {"batch": symbols.batch, "chips": "1..8"}):
        with pytest.raises(WrongValue):
            solve("step_time", **{**DEPLOYED, "context_length": 4096, **given})
    lacking = solve("balance_batch", sparsity=symbols.sparsity).refusal
    # Of formulas no data type is supposed.
    assert {*lacking.missing} == {*solve("balance_batch", sparsity=8).refusal.missing, "bytes_per_weight"} and "symbols" in lacking.message
    broken = solve("speculative_speedup", acceptance_rate=1, draft_tokens=symbols.draft_tokens, draft_cost_ratio=0.1)
    assert broken.reason.code == "requirement_violated" and not broken.answers


def test_a_formula_errs_as_its_numbers_do():
    """A step takes at least what the roofline says; what a model holds that it does not use is not known of a symbol."""
    numbers = {"batch": 64, "context_length": 4096}
    (formula,) = solve("step_time", **DEPLOYED, batch=symbols.batch, context_length=4096).answers
    assert formula.bound == solve("step_time", **DEPLOYED, **numbers).answers[0].bound == "lower"
    open_side = solve("step_time", **{**DEPLOYED, "chips": symbols.chips}, **numbers)
    assert open_side.answers[0].bound == "lower"
