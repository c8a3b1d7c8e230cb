"""The assumptions of an answer: defaults, variants, named conditions, and the ideal assumptions of each equation."""

from collections.abc import Mapping

from derive.catalogue.assumed import OF_MIXTURES
from derive.preset_record import ARCHITECTURES, PARAMETERS
from derive.records import CHAINED_BY_ITSELF, ESTIMATE
from derive.roles import Widths
from derive.solving.engine.legs import Way
from derive.solving.question.defaults import PLAIN
from derive.solving.question.presets import tell_assumption
from derive.solving.question.questions import Question

NOT_NEEDED = " was named but is not needed"
"""How the assumption ends that an equation was named for nothing."""


def list_assumptions(asked: Question, known: Mapping[str, float], way: Way, touched: set[str]) -> tuple[str, ...]:
    """Return the assumptions of an answer in words."""
    used = way.rows
    led = {name: other for name, other in asked.defaults.items() if isinstance(other, str)}
    taken_up = {name: f"{value:g}" for name, value in known.items() if name in touched and name not in asked.known}
    # What follows a quantity that is asked for or worked out has no number beforehand.
    put_in = dict.fromkeys(name for row in used for name in row.put_in if name not in PLAIN)
    taken_up |= {name: led[name] for name in put_in if name in led and name not in known}
    why = {name: f"default: {led[name]}" for name in taken_up if name in led and known.get(name, 1) != 1}
    defaults = [f"{name} = {value} ({why.get(name, 'default')})" for name, value in taken_up.items()]
    taken = [f"{row.variant.group}: {row.variant.name} ({row.id})" for row in used if row.variant]
    joined = [f"{row.id} is a {row.kind}, added by --using" for row in used if row.kind not in CHAINED_BY_ITSELF]
    joined += [f"{row.id} is an estimate, not a bound" for row in used if row.kind == ESTIMATE]
    chosen = {(row.variant.group, row.variant.name) for row in used if row.variant}
    # A variant that was named chooses those of its group and name, whichever of them is needed.
    needed = (row for row in asked.named if row in used or (row.variant and (row.variant.group, row.variant.name) in chosen))
    idle = [f"{row.id}{NOT_NEEDED}" for row in asked.named if row not in {*needed}]
    total, active = (known.get(name) for name in PARAMETERS)
    dense = total is not None and total == active
    idealised = [text for row in used for text in row.assumptions if not (dense and text in OF_MIXTURES)]
    of_presets = [name for name in touched if asked.provenance.get(name, "given") != "given"]
    switches = asked.conventions.stated((name for row in used for name in row.symbols), of_presets)
    weights = _weights(asked) if Widths.weights in touched else ()
    supposed = [
        tell_assumption(name, asked.known[name], why) for name, why in asked.supposed.items() if name in touched & asked.known.keys()
    ]
    return tuple(dict.fromkeys((*asked.notes, *supposed, *defaults, *switches, *weights, *taken, *joined, *idle, *idealised)))


def _weights(asked: Question) -> tuple[str, ...]:
    """Return the data type of the weights if the model says it, and not the chip."""
    place, _, said = asked.provenance.get(Widths.weights, "").partition(": ")
    return (f"{said} ({place}): give {Widths.weights} for another type",) if place.startswith(ARCHITECTURES) else ()
