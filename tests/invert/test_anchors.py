"""Outside facts: each moves every reading and estimate that says it rests on it, and no other; given KV bytes are the headline."""

import io
from dataclasses import replace
from functools import cache
from itertools import product

import pytest
from click.testing import CliRunner

from backsolve.cli.main import backsolve
from derive import symbols
from derive.errors import WrongValue
from invert.assumptions import FACTS
from invert.estimators.names import KV_NAMES
from invert.inference import infer
from invert.records import Estimate
from invert.report.columns import flat
from invert.report.contract import run_as_csv, sheet_records
from invert.report.document import FORMATS, document, footer
from invert.report.sheet import anchors_by_label, report
from invert.result import Inference
from tests.tools.together import in_one_test, some

pytestmark = pytest.mark.usefixtures("tiered_sonnet")

UNBROKEN = 10_000
"""Columns in which no line of a report is broken."""

SHEETS = ("gemini-3.1-pro", "qwen3-coder-plus", "claude-sonnet-4-5", "claude-opus-5", "kimi-k3")
"""Two bands and storage, four bands, two bands and two lifetimes, one band and lifetimes, and one whose lifetimes make no tariff."""
OTHER = {  # a value of each that is neither the default nor what is assumed
    "active_params": "60B", "machine_balance_ratio": 150, "bytes_per_weight": 2, "prompt_position": 0.8,
    "prefill_decode_flops_ratio": 1.4, "overlap": 0.3, "sweep_time": "40ms", "holding_cost_ratio": 3, "short_context": "9k",
    "long_context": "70k", "kv_bytes_per_token": "40kB",
}  # fmt: skip
STARTS = {"nothing given": {}, "KV given": {"kv_bytes_per_token": "70kB"}, "contexts given": {"short_context": "5k", "long_context": "90k"}}
LONGER = ("gemini-3.1-pro", "claude-sonnet-4-5")
"""Those whose threshold lies at 200k."""


@cache
def read(**anchors: float | str) -> dict[str, Inference]:
    """Every sheet by its model; 70k as the mean of its long band is 470k where the threshold lies at 200k."""
    found = {one.sheet.model: one for one in infer(SHEETS, anchors=anchors).inferences}
    if "long_context" in anchors:
        anchors["long_context"] = f"4{anchors['long_context']}"
        found |= {one.sheet.model: one for one in infer(LONGER, anchors=anchors).inferences}
    return found


def numbers(one: Inference) -> dict[str, tuple[object, ...]]:
    """What is printed of every reading and estimate that says what it rests on."""
    first = one.pairs[0] if one.pairs else None
    readings = {"KV from threshold": first.lecture, "KV joint": first.joint} if first else {}
    found = {name: (reading.values.get("kv_bytes_per_token"),) for name, reading in readings.items()}
    labels = {of.heading: name for name, of in KV_NAMES.items()}
    estimates = {**{label: one.kv_bytes[key] for label, key in labels.items()}, **one.estimates}
    found |= {name: (e.kind, e.median, e.low, e.high, e.contraction) for name, e in estimates.items()}
    return found | ({"tier by price": tuple((one.storage[0].undisclosed or {}).values())} if one.storage else {})


def same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return all(a == pytest.approx(b, rel=1e-12) if isinstance(a, float) and isinstance(b, float) else a == b
               for a, b in zip(one, other, strict=True))  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("start", "anchor"), some(product(STARTS, FACTS), every=2))
def test_an_anchor_moves_what_rests_on_it_and_nothing_else(start: str, anchor: str):
    before, after = read(**STARTS[start]), read(**{**STARTS[start], anchor: OTHER[anchor]})
    assert before.keys() == after.keys() and len(before) == len(SHEETS)
    for model, one in before.items():
        usual, moved, resting = numbers(one), numbers(after[model]), anchors_by_label(one)
        assert usual.keys() == moved.keys() == resting.keys()
        found = {name for name in usual if not same(usual[name], moved[name])}
        assert found == {name for name, anchors in resting.items() if anchor in anchors}, (model, anchor)


@pytest.mark.parametrize("value", [[1, 2], None, symbols.B])
def test_an_anchor_that_is_no_number_is_refused(value: object):
    with pytest.raises(WrongValue, match=r"anchor machine_balance_ratio = .*: one number, or a text with its unit"):
        infer("kimi-k3", anchors={"machine_balance_ratio": value})  # type: ignore[dict-item]


def test_every_anchor_is_tried_and_moves_something():
    assert tuple(OTHER) == FACTS
    for anchor in FACTS:
        assert any(anchor in names for one in read().values() for names in anchors_by_label(one).values()), anchor


def test_what_an_increment_pays_for_follows_the_mean_contexts():
    """The same increment over fewer tokens pays for more bytes of each."""
    (usual,), (near,), (far,) = (
        infer(["gemini-3.1-pro"], anchors=anchors).inferences
        for anchors in ({}, {"short_context": "100k", "long_context": "300k"}, {"long_context": "900k"})
    )
    medians = [one.kv_bytes["increment"].median for one in (far, usual, near)]
    assert medians == sorted(medians) and medians[0] < 0.8 * medians[1] < 0.7 * medians[2]
    assert len({one.kv_bytes["headline"].median for one in (far, usual, near)}) == 1, "no price enters"


def test_what_is_assumed_is_printed_with_the_anchors_and_cannot_be_given():
    with pytest.raises(WrongValue, match="tokens_per_step cannot be given: it is held at 1 token in every reading"):
        infer(["kimi-k3"], anchors={"tokens_per_step": 1.8})
    table = infer(["gemini-3.1-pro"])
    (one,) = table.inferences
    assert one.anchors.values["tokens_per_step"] == 1 and one.anchors.origin["tokens_per_step"] == "assumed"
    assert "tokens_per_step 1 token" in " ".join(footer(table))
    assert "Besides, tokens_per_step = 1 token" in " ".join(report(one, table).split())


# -- what the output claims ----------------------------------------------------------------------------------------------


def test_the_report_ends_with_what_rests_on_each_anchor():
    table = infer(["gemini-3.1-pro"])
    (one,) = table.inferences
    said = report(one, table, UNBROKEN)
    assert "the same for every reading" not in said
    lines = said[said.index("Anchors: outside facts, and what rests on each") :].splitlines()
    for anchor in FACTS:
        claimed = [line for line in lines if line.startswith(f"{anchor} = ")]
        assert len(claimed) == (anchor != "kv_bytes_per_token")
        for line in claimed:
            listed = line.split("   ")[-1].strip().split(", ")
            # Nobody states its size: the lecture's value is not that of the table.
            unused = "KV from threshold" if anchor == "active_params" else None
            assert listed == [name for name, anchors in anchors_by_label(one).items() if anchor in anchors and name != unused]


def test_every_estimate_names_its_anchors_in_json():
    for one, record in zip(read().values(), sheet_records(replace(infer(["kimi-k3"]), inferences=tuple(read().values()))), strict=True):
        printed = {**record["estimates"], **record["estimates"]["kv_bytes_per_token"]}
        for name, estimate in {**one.kv_bytes, **one.estimates}.items():
            assert printed[name]["anchors"] == list(estimate.anchors) and set(estimate.anchors) <= set(FACTS)


# -- KV bytes that are given ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@in_one_test(("name", "given"), some(product(SHEETS, ("70kB", "254 kB/token", 1.5)), every=4))
def test_given_kv_bytes_are_the_headline_and_are_not_estimated(name: str, given: str | float):
    table = infer([name], anchors={"kv_bytes_per_token": given})
    (one,), (usual,) = table.inferences, infer([name]).inferences
    value = table.given["kv_bytes_per_token"]
    for key in ("headline", "one_markup"):
        found = one.kv_bytes[key]
        assert (found.kind, found.median, found.low, found.high) == ("given", value, value, value)
        assert found.anchors == ("kv_bytes_per_token",) and found.contraction is None and not found.prior_dominated
    # What rental cost pays for does not rest on it: it stays a reading of the price.
    assert one.kv_bytes["at_rent"] == usual.kv_bytes["at_rent"]
    assert "KV given" in one.flags and "KV PRIOR-DOMINATED" not in one.flags


def test_given_kv_bytes_are_labelled_in_every_form():
    table = infer(["gemini-3.1-pro", "claude-opus-5"], anchors={"kv_bytes_per_token": "70kB"})
    assert "kv_bytes_per_token 70 kB/token" in " ".join(footer(table))
    for style in FORMATS:
        assert document(table, style).count("70 kB (given)") == 4
    for one, record in zip(table.inferences, sheet_records(table), strict=True):
        said = report(one, table)
        assert said.count("70 kB (given)") == 3 and "KV bytes per token are given, 70 kB" in " ".join(said.split())
        assert "The headline is typical KV" not in said
        assert "kv_bytes_per_token = 70 kB/token   given" in said
        estimate = record["estimates"]["kv_bytes_per_token"]["headline"]
        assert (estimate["kind"], estimate["median"], record["anchors"]["kv_bytes_per_token"]["origin"]) == ("given", 70e3, "given")
        row = flat(one)
        assert (row["kv_bytes_per_token_headline"], row["kv_bytes_per_token_headline_kind"]) == (70e3, "given")
    assert run_as_csv(table).count(",70000.0,70000.0,70000.0,given") == 4


def test_given_kv_bytes_move_the_tier_that_a_storage_price_points_to():
    """Where no premium tells, the price of a byte does: less of them for the same price is dearer memory."""
    tiers = {}
    for kv in ("3kB", "3MB"):
        (one,) = infer(["claude-opus-5"], anchors={"kv_bytes_per_token": kv}).inferences
        tiers[kv] = one.storage[0].undisclosed["hbm"]
    assert tiers["3kB"] > tiers["3MB"] + 0.2


def test_prices_that_contradict_the_model_do_so_whatever_kv_is_given():
    broken = {"overlap": 0, "prompt_position": 0.5, "prefill_decode_flops_ratio": 1.3, "kv_bytes_per_token": "70kB"}
    (one,) = infer(["claude-sonnet-4-5"], anchors=broken).inferences
    assert one.kv_bytes["headline"].kind == "given" and one.contradiction and {"KV given", "inconsistent"} <= set(one.flags)


# -- means that cannot be ------------------------------------------------------------------------------------------------


NARROW = "".join(
    f"acme,m,{component},{amount * factor},{threshold}\n"
    for threshold, factor in ((0, 1), (32_000, 2), (128_000, 3), (130_000, 4))
    for component, amount in (("input", 1), ("output", 4))
)


@in_one_test(
    ("anchors", "said"),
    [
        ({"long_context": "1.2k"}, "short_context 2564 tokens must be below long_context 1200 tokens"),
        ({"short_context": "80k"}, "short_context 80k tokens must be below long_context"),
        ({"long_context": "20k"}, "which must ascend"),
        ({"long_context": "40k"}, None),
        ({"long_context": "300k"}, "which must ascend"),
    ],
)
def test_means_that_do_not_ascend_are_a_problem_of_the_sheet_and_of_no_other(anchors: dict[str, str], said: str | None):
    """A mean below its threshold is less than no share of the way through a band, and of the broad one at the top much less."""
    sheet = "provider,model,component,amount,threshold_tokens\n" + NARROW
    table = infer(["acme/m", "kimi-k3"], prices=io.StringIO(sheet), anchors=anchors)
    assert [one.sheet.model for one in table.inferences] == [*([] if said else ["m"]), "kimi-k3"]
    assert [said in str(problem) for problem in table.problems] == ([True] if said else [])


def test_a_sheet_of_one_band_is_reported_whatever_mean_of_a_long_band_is_given():
    done = CliRunner().invoke(backsolve, ["infer", "kimi-k3", "--full", "--anchor=long_context=2k", "--anchor=short_context=100"])
    assert done.exit_code == 0 and "What the prices can tell at all" in done.output


def test_given_is_a_kind_of_its_own():
    sheet = "provider,model,component,amount\nacme,m,input,1\nacme,m,output,4\n"
    (one,) = infer(["acme/m"], prices=io.StringIO(sheet), anchors={"kv_bytes_per_token": 1e5}).inferences
    assert one.kv_bytes["headline"] == Estimate(
        kind="given", median=1e5, low=1e5, high=1e5, level=None, because="given, not estimated", anchors=("kv_bytes_per_token",)
    )
