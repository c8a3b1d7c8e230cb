"""What a chip holds in training: states over copies of the model, activations over the stages of a pipeline."""

import pytest

from derive.solving.api import solve
from tests.tools.asked import value_of
from tests.tools.schedules import gpipe, interleaved, one_forward_one_backward, run

STATES = {"total_params": "70B", "bytes_per_weight": 2, "gradient_bytes_per_param": 2, "optimizer_bytes_per_param": 12}
SCORES = {"query_heads": 96, "training_sequence_length": 2048}


def states(stage, **given):
    return value_of("training_state_bytes_per_chip", f"training.state_bytes{stage}", **STATES, **given)


def test_each_stage_of_zero_holds_less_and_over_one_copy_all_hold_the_same():
    found = [states("", chips=8), *(states(f"_zero_{n}", chips=8, data_parallel=64) for n in (1, 2, 3))]
    assert found == sorted(found, reverse=True) and len(set(found)) == 4
    assert {states(f"_zero_{n}", data_parallel=1) for n in (1, 2, 3)} == {states("")}


@pytest.mark.parametrize("stage", [1, 2, 3])
def test_what_is_shared_over_all_chips_is_shared_however_they_are_arranged(stage):
    """Copies, stages and the chips of a stage divide alike where ZeRO-3 shares all; else copies do less."""
    by_copies = states(f"_zero_{stage}", data_parallel=64)
    by_stages = states(f"_zero_{stage}", data_parallel=1, chips=8, pipeline_stages=8)
    assert by_copies == pytest.approx(by_stages) if stage == 3 else by_copies > by_stages


def test_scores_outgrow_the_rest_of_a_layer_with_the_length_of_a_sequence():
    """5 a s against 34 h: even at s = 34 x 12288/(5 x 96) = 870.4 tokens."""
    even = {"layers": 96, "tokens_in_training_batch": 1e4, "model_dim": 12288, "query_heads": 96, "training_sequence_length": 870.4}
    kept = value_of("activation_bytes", "training.activation_memory_transformer", **even)
    layers = {n: v for n, v in even.items() if n not in SCORES}
    again = value_of("activation_bytes", **layers, activations_per_width=17, bytes_per_activation=2)
    assert kept == pytest.approx(2 * again)


# -- how many microbatches a stage holds ----------------------------------------------------------------------------


def held(using, stages, **given):
    """Bytes on a chip of the first stage where a microbatch has one byte in every one of as many layers as stages."""
    return value_of("activation_bytes_per_chip", using, activation_bytes=float(stages), pipeline_stages=stages, **given)


@pytest.mark.parametrize(("stages", "microbatches"), [(8, 32), (4, 8), (2, 6)])
def test_the_first_stage_holds_what_the_schedule_run_step_by_step_holds(stages, microbatches):
    plain = value_of("activation_bytes_per_chip", activation_bytes=float(stages))
    assert plain == max(run(one_forward_one_backward(stages, microbatches)).held)
    all_of_them = held("training.activation_bytes_per_chip_gpipe", stages, training_microbatches=microbatches)
    assert all_of_them == max(run(gpipe(stages, microbatches)).held)
    for virtual in (2, 3, 4):
        short = held("training.activation_bytes_per_chip_interleaved", stages, virtual_stages=virtual)
        assert short == pytest.approx(max(run(interleaved(stages, microbatches, virtual)).held) / virtual)


def test_stages_cancel_out_of_activations_under_1f1b():
    solution = solve("activation_bytes_per_chip", activation_bytes="80GB", chips=8)
    assert solution.answers[0].value == 10e9 and "pipeline_stages" not in solution.given


def test_what_fits_bounds_the_activations_beside_the_states():
    """70 B over 8 chips, 8 stages and 16 copies with ZeRO-1: (4 + 12/16) x 70/64 GB of 80 GB are states."""
    given = {**STATES, "chips": 8, "pipeline_stages": 8, "data_parallel": 16, "hbm_capacity": "80GB"}
    solution = solve("activation_bytes_per_chip", using=["training.state_bytes_zero_1"], **given)
    (answer,) = solution.answers
    assert answer.kind == "interval" and answer.high == pytest.approx(80e9 - 4.75 * 70e9 / 64)


def test_a_checkpoint_is_weights_and_what_the_optimizer_keeps_of_them_over_what_the_storage_takes():
    """405.85e9 parameters of 2 and 12 bytes, at 200 GB/s; asked back, the storage that takes it in half a minute."""
    model = {"model": "Llama-3.1-405B", "bytes_per_weight": 2, "optimizer_bytes_per_param": 12}
    assert solve("checkpoint_size", **model).value == pytest.approx(14 * 405_853_388_800)
    assert solve("checkpoint_write_time", **model, storage_bandwidth="200 GB/s").value == pytest.approx(14 * 405_853_388_800 / 200e9)
    assert solve("write_bandwidth", **model, checkpoint_time=30).value == pytest.approx(14 * 405_853_388_800 / 30)
