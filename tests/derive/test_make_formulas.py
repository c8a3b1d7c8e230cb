"""A line of the table of formulas holds every way to ask an equation."""

import json

from derive.catalogue import equation
from derive.make_formulas import line, lines_of, ways


def test_a_line_for_every_way_in_which_defaults_can_be_put_in():
    assert [dict(way) for way in ways("scheduling.throughput")] == [{}, {"microbatches": 1}, {"microbatches": "pipeline_stages"}]
    assert len(lines_of("scheduling.throughput")) == 3


def test_what_goes_with_a_default_is_named():
    line_of_step = line("roofline.step_time", {"attention_time": 0, "drafting_time": 0, "positions_per_step": 1})
    id, stated, _, gone, _, _, roots, _ = line_of_step.split("\t")
    assert id == "roofline.step_time attention_time=0 drafting_time=0 positions_per_step=1" and stated.startswith("step_time = ")
    assert json.loads(roots).keys() == {"step_time", "compute_time", "memory_time"} and gone == ""


def test_requirements_have_turning_points_too():
    turns = json.loads(line("batching.sparsity", {}).split("\t")[-1])
    assert ["total_params", "active_params"] in [turn[:2] for turn in turns["active_params"]]
    assert equation("batching.sparsity").requires
