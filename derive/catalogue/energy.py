"""Energy: the electricity of a token, and its cost."""

from derive.catalogue.sources import WAREHOUSE_BOOK, ours
from derive.records import Equation, Requirement

EQUATIONS = (
    Equation(
        id="energy.energy_per_token",
        title="Energy of a decoded token",
        relation=lambda energy_per_token, chips, pipeline_stages, chip_power, throughput: (
            energy_per_token,
            chips * pipeline_stages * chip_power / throughput,
        ),
        statement="The power of all chips of a replica over the tokens that they make per second.",
        assumptions=(
            "every chip draws this power all the time, also while it waits. With data-sheet power the result is higher than a meter shows",
            "only chips. Servers, network and cooling are in electricity_cost_per_token, through power_usage_effectiveness",
        ),
        result="1.697 J/token",
        sources=(WAREHOUSE_BOOK, ours("power over token rate")),
    ),
    Equation(
        id="energy.tokens_per_joule",
        title="Decoded tokens per joule",
        relation=lambda tokens_per_joule, energy_per_token: (tokens_per_joule, 1 / energy_per_token),
        statement="The inverse of the energy per token.",
        assumptions=("the energy of the chips alone",),
        given={"energy_per_token": "1.697 J/token"},
        result="0.5893 token/J",
        sources=(ours("the inverse of the energy of a token"),),
    ),
    Equation(
        id="energy.electricity_cost_per_token",
        title="Cost of the electricity for a decoded token",
        relation=lambda electricity_cost_per_token, energy_per_token, power_usage_effectiveness, electricity_price: (
            electricity_cost_per_token,
            energy_per_token * power_usage_effectiveness * electricity_price,
        ),
        requires=(Requirement(holds=lambda power_usage_effectiveness: power_usage_effectiveness >= 1),),
        statement="The energy of the chips, times the power usage effectiveness of the data centre, times the price of electricity.",
        assumptions=(
            "every joule has the same price. There is no charge for peak power",
            "do not add it to a chip_price that includes electricity, for example a rent",
        ),
        result="0.03733 USD/MTok",
        sources=(WAREHOUSE_BOOK, ours("energy times its price, data centre included")),
    ),
    Equation(
        id="energy.fleet_electricity_cost",
        title="Cost of the electricity of a fleet",
        relation=lambda fleet_electricity_cost, fleet_chips, chip_power, power_usage_effectiveness, deployment_time, electricity_price: (
            fleet_electricity_cost,
            fleet_chips * chip_power * power_usage_effectiveness * deployment_time * electricity_price,
        ),
        requires=(Requirement(holds=lambda power_usage_effectiveness: power_usage_effectiveness >= 1),),
        statement="The energy of all chips of all replicas, times the power usage effectiveness of the data centre, times the price of"
                  " electricity.",
        assumptions=(
            "every chip draws this power all the time, in use or not",
            "every joule has the same price. There is no charge for peak power",
            "do not add it to a fleet_cost whose chip_price includes electricity, for example a rent",
        ),
        changes=("uses fleet_chips, which has its own definition",),
        result="77410 USD",
        sources=(WAREHOUSE_BOOK, ours("power times time, data centre included, times the price of electricity")),
    ),
    Equation(
        id="energy.fleet_power",
        title="Power of a fleet",
        relation=lambda fleet_power, fleet_chips, chip_power, power_usage_effectiveness: (
            fleet_power,
            fleet_chips * chip_power * power_usage_effectiveness,
        ),
        requires=(Requirement(holds=lambda power_usage_effectiveness: power_usage_effectiveness >= 1),),
        statement="The power of all chips of all replicas, times the power usage effectiveness of the data centre.",
        assumptions=(
            "all chips draw this power at the same moment",
            "servers and network are in power_usage_effectiveness, or in a chip_power that includes them",
        ),
        result="1.344 MW",
        sources=(WAREHOUSE_BOOK, ours("the power of one chip times the number of chips, data centre included")),
    ),
    Equation(
        id="energy.output_energy",
        title="Energy of decoded tokens",
        relation=lambda output_energy, energy_per_token, output_tokens: (output_energy, energy_per_token * output_tokens),
        statement="The energy of a decoded token times the number of decoded tokens.",
        assumptions=("the energy of the chips alone", "prompts are included if energy_per_token includes them"),
        result="700 J",
        sources=(ours("the energy of a token times their number"),),
    ),
    Equation(
        id="energy.training_energy",
        title="Energy of a training run",
        relation=lambda training_energy, chip_hours, chip_power, power_usage_effectiveness: (
            training_energy,
            chip_hours * chip_power * power_usage_effectiveness,
        ),
        requires=(Requirement(holds=lambda power_usage_effectiveness: power_usage_effectiveness >= 1),),
        statement="The power of one chip times the chip time of the run, times the power usage effectiveness of the data centre.",
        assumptions=(
            "every chip draws this power all the time. With data-sheet power the result is higher than a meter shows",
            "servers and network are in power_usage_effectiveness, or in a chip_power that includes them",
        ),
        given={"chip_hours": "2.664M h"},
        result="2.238 GWh",
        sources=(WAREHOUSE_BOOK, ours("power times the chip time of a run, data centre included")),
    ),
    Equation(
        id="energy.training_electricity_cost",
        title="Cost of the electricity of a training run",
        relation=lambda training_electricity_cost, training_energy, electricity_price: (
            training_electricity_cost,
            training_energy * electricity_price,
        ),
        statement="The energy of the run, data centre included, times the price of electricity.",
        assumptions=(
            "every joule has the same price. There is no charge for peak power",
            "do not add it to a training_cost whose chip_price includes electricity, for example a rent",
        ),
        given={"training_energy": "2.238 GWh"},
        result="179000 USD",
        sources=(ours("energy times its price"),),
    ),
)
