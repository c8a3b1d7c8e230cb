"""The figures that `backsolve plot` draws, by name, and the default question of each figure of a deployment."""

from typing import TYPE_CHECKING, NamedTuple

from backsolve.figures.usual import CHIP, DATA_TYPE, DEPLOYED, MODEL
from derive.catalogue import equation
from derive.preset_record import names_count

if TYPE_CHECKING:
    from derive.show.chart import Chart

ALL, FRONT = "all", "front"
SHEETS, SCOREBOARD = "size-price", "reliability"
"""The figure for any number of sheets, and the figure of the scoreboard. Other figures of prices show one sheet."""
USUAL_SHEET = "gemini-3.1-pro"
"""The sheet of a figure if no sheet is named."""
_CHIPS, _MODELS = (f"{CHIP}:{DATA_TYPE}",), (MODEL,)
_SERVED = " ".join(f"{name}={value:g}" for name, value in DEPLOYED.items())


class Figure(NamedTuple):
    """A figure. A figure of a deployment has a default question, written as for `solve`. A later input replaces an earlier one.

    `drawn` is "all" for all charts, or "front" for the front of two questions. Any other text is the name of one axis for all lines.
    `example` names an equation that the answer uses. Its worked example has the values of inputs without one.
    """

    about: str
    question: str = ""
    drawn: str = ALL
    price: str = "given"
    hardware: tuple[str, ...] = _CHIPS
    model: tuple[str, ...] = _MODELS
    example: str = ""

    @property
    def unknowns(self) -> list[str]:
        """Return the quantities that are asked for."""
        return self.question.partition(" ")[0].split(",")


FIGURES = {
    "roofline": Figure("the roofline of a chip, with the point of a decode step", f"step_time {_SERVED}"),
    "cost-batch": Figure("cost of a token over the batch", f"cost_per_token {_SERVED} batch=1..16k:log:57", price="rent"),
    "cost-context": Figure("prices of a sheet over the context, with its bands and the joint reading"),
    "latency-cost": Figure(
        "step time against cost of a token: the batches at the Pareto front",
        f"step_time,cost_per_token {_SERVED} batch=1..16k:log:15",
        FRONT,
        "rent",
    ),
    "kv-by-estimator": Figure("KV bytes of a sheet by every estimator, with the typical KV"),
    SHEETS: Figure("active parameters against input price: open models, fit, sheets"),
    "tier-map": Figure("cost of memory tiers over the hold time, and the prices of a sheet"),
    "tornado": Figure("how far each input moves the KV bytes of a sheet"),
    SCOREBOARD: Figure("coverage of the ranges of every estimator on the scoreboard"),
    "pipeline-memory": Figure(
        "memory of a chip over pipeline stages, which divide only the weights",
        "memory_per_chip chips=8 context_length=32k bytes_per_element=1 batch=16,64,256 pipeline_stages=1,2,4,8,16,32",
    ),
    "training-allocation": Figure(
        "FLOPs of pre-training to one loss, and of serving, over the size of the model",
        "pretrain_flops,inference_flops loss=1.9 inference_tokens=10T prompt_share=0.8 decode_efficiency=0.3 active_params=8B..1T:log:49"
        " irreducible_loss size_loss_coefficient size_loss_exponent data_loss_coefficient data_loss_exponent",
        "FLOPs",
        hardware=(),
        model=(),
        example="training.loss_law",
    ),
}


def default_inputs(figure: Figure, hardware: tuple[str, ...], model: tuple[str, ...]) -> dict[str, str]:
    """Return the default inputs of a figure as texts by name.

    A named deployment replaces the data type, and a name such as 8xH100 the chips.
    """
    example = equation(figure.example).example if figure.example else {}
    texts = {name: text or example[name] for name, _, text in (item.partition("=") for item in figure.question.split()[1:])}
    replaced = {"chips"} if any(map(names_count, hardware)) else set[str]()
    if (hardware, model) != (figure.hardware, figure.model):
        replaced.add("bytes_per_element")
    return {name: text for name, text in texts.items() if name not in replaced}


def select_charts(charts: "list[Chart]", drawn: str) -> "list[Chart]":
    """Return the charts of a figure. If no two questions can be compared, there is no front, and all charts are returned."""
    from derive.show.plot import is_front, sum_chart

    if drawn == ALL:
        return charts
    return ([*filter(is_front, charts)] or charts) if drawn == FRONT else [sum_chart(charts, drawn)]
