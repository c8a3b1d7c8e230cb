"""Energy: what a token takes in electricity."""

from derive.catalogue.sources import WAREHOUSE_BOOK, ours
from derive.records import Equation, Example

EQUATIONS = (
    Equation(
        id="energy.energy_per_token",
        title="Energy of a decoded token",
        defines="energy_per_token",
        relation=lambda energy_per_token, chips, pipeline_stages, chip_power, throughput: (
            energy_per_token,
            chips * pipeline_stages * chip_power / throughput,
        ),
        statement="What all chips of a replica draw, over the tokens that they make.",
        assumptions=(
            "every chip draws its power all the time, whatever it waits for: with the power of a data sheet more than is metered",
            "chips alone: servers, network and cooling come on top, as power_usage_effectiveness counts them",
        ),
        example=Example(
            given={"chips": "16", "pipeline_stages": "2", "chip_power": "700 W", "throughput": "13.2k token/s"},
            result="1.697 J/token",
        ),
        sources=(WAREHOUSE_BOOK, ours("power over rate")),
    ),
)
