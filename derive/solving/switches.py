"""The switches of a question: presets, equations that join by name, variants and conventions."""

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any

from derive.immutable import immutable
from derive.quantities import quantity
from derive.solving.conventions import USUAL_CONVENTIONS, Conventions
from derive.solving.givens import spread
from derive.solving.limits import limits
from derive.solving.questions import Question, asked_for, question
from derive.spreads import Spread


@immutable
class Switches:
    """All of a question but the unknown and the givens. Lists are combined with each other, or `zipped`. A `silent` one has no warnings."""

    hardware: str | Iterable[str] | None = None
    model: str | Iterable[str] | None = None
    using: tuple[str, ...] = ()
    variants: Mapping[str, str] = field(default_factory=dict)
    conventions: Conventions = USUAL_CONVENTIONS
    anyway: bool = False
    zipped: bool = False
    silent: bool = False

    def join(self, *ids: str) -> "Switches":
        """Return the switches with these equations joined in place of others."""
        return replace(self, using=ids)

    def split(self, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Spread]]:
        """Return single values as they were called, and ranges, lists and sweeps by registry name."""
        found = ((spelled, spread(quantity(spelled).name, value, self.conventions.read)) for spelled, value in given.items())
        spreads = {spelled: one for spelled, one in found if one}
        plain = {spelled: value for spelled, value in given.items() if spelled not in spreads}
        return plain, {quantity(spelled).name: one for spelled, one in spreads.items()}

    def pose(self, unknown: str, given: Mapping[str, Any]) -> tuple[Question, dict[str, Spread]]:
        """Return the question without the sides of its limits, and the ranges, lists and sweeps at one value of which it is posed."""
        plain, spans = self.split(limits(given)[0])
        name = asked_for(unknown, self.using)
        asked = question(name, plain, self.hardware, self.model, self.using, self.variants, self.conventions, self.anyway, spans)
        return (replace(asked, silent=True) if self.silent else asked), spans
