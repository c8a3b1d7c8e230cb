"""What is asked, read: presets laid under givens, names, and every mistake in a line."""

import pytest

from derive.errors import BacksolveError, UnknownName, WrongUnit, WrongValue
from derive.solving.api import solve
from tests.tools.together import in_one_test


def value(solution):
    assert solution.reason is None, solution.reason
    (only,) = solution.answers
    assert only.kind == "point"
    return only.value


def test_presets_are_laid_under_what_is_given():
    preset = solve("machine_balance_ratio", hardware="H100:fp8")
    assert value(preset) == pytest.approx(1979 / 6.7)
    assert all(preset.provenance[name].startswith("hardware.csv H100-SXM") for name in preset.given)
    own = solve("machine_balance_ratio", hardware="H100:fp8", hbm_bandwidth="3TB/s")
    assert value(own) == pytest.approx(1979 / 6)
    assert own.provenance["hbm_bandwidth"] == "given"
    assert any(note.startswith("hbm_bandwidth as given, not the 3.35 TB/s of hardware.csv") for note in own.assumptions)
    assert not any("as given, not" in note for note in preset.assumptions)
    same = solve("machine_balance_ratio", hardware="H100:fp8", hbm_bandwidth="3.35TB/s")
    assert not any("as given, not" in note for note in same.assumptions)


def test_what_is_asked_is_not_taken_from_a_preset():
    solution = solve("hbm_bandwidth", hardware="H100:fp8", machine_balance_ratio=300)
    assert value(solution) == pytest.approx(1979e12 / 600)
    assert "hbm_bandwidth" not in solution.given


@in_one_test(
    ("kind", "words", "asked"),
    [
        (UnknownName, ["'batc'", "'batch'"], {"unknown": "batc"}),
        (UnknownName, ["'readings.joint_slop'", "'readings.joint_slope'"], {"unknown": "batch", "using": ["readings.joint_slop"]}),
        (UnknownName, ["'most'"], {"unknown": "step_time", "variants": {"overlap": "most"}}),
        (WrongUnit, ["hbm_bandwidth", "3.35 s"], {"unknown": "sweep_time", "hbm_bandwidth": "3.35 s"}),
        (WrongValue, ["sparsity", "> 0"], {"unknown": "balance_batch", "sparsity": 0}),
        (WrongValue, ["batch", "absurd"], {"unknown": "compute_time", "batch": 1e30}),
        (WrongValue, ["batch is asked for and given", "2400"], {"unknown": "batch", "B": 2400}),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(kind, words, asked):
    asked = dict(asked)
    with pytest.raises(kind) as caught:
        solve(asked.pop("unknown"), **asked)
    assert isinstance(caught.value, BacksolveError) and "\n" not in str(caught.value)
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_stand_in_takes_part_only_where_what_it_stands_for_is_not_given():
    """6,000 tokens of prompt and 500 of output are 6,250 on the mean; a context that is given is taken, whatever they come to."""
    request = {"prompt_tokens": 6000, "output_tokens": 500, "batch": 4, "kv_bytes_per_token": 1e5, "chips": 1, "hbm_bandwidth": "1TB/s"}
    read = 4 * 1e5 / 1e12
    assert value(solve("kv_time", **request)) == pytest.approx(read * 6250)
    assert value(solve("kv_time", **request, context_length=1000)) == pytest.approx(read * 1000)
    assert value(solve("prompt_tokens", context_length=6250, output_tokens=500, using="serving.mean_decode_context")) == 6000


def test_chips_that_are_counted_twice_are_refused_unless_both_say_the_same():
    asked = {"hardware": "8xH100:fp8", "model": "Llama-3.1-8B"}
    with pytest.raises(WrongValue, match="chips is 8 by --hardware 8xH100:fp8 and 4 as given"):
        solve("weight_time", **asked, chips=4)
    assert solve("weight_time", **asked, chips=8).value == solve("weight_time", **asked).value


@pytest.mark.parametrize("more", [{"batch": 64, "step_time": "<=10ms"}, {"batch": 64}, {"step_time": "<=10ms"}])
def test_chips_of_a_preset_that_are_asked_for_are_said_not_to_be_used(more):
    asked = {"model": "Llama-3.1-8B", "context_length": 8192, "bytes_per_element": 2, **more}
    counted, plain = (solve("chips", hardware=hardware, **asked) for hardware in ("8xH100:fp8", "H100:fp8"))
    said = "the 8 chips of --hardware 8xH100:fp8 are not used: chips is asked for"
    assert counted.answers and counted.answers == plain.answers
    assert said in counted.warnings and {*counted.warnings} - {said} == {*plain.warnings}
