"""Names that a shell completes: chips, models, equations, quantities, claims, columns and words of the outputs."""

from collections.abc import Callable, Iterable

import click

from derive.catalogue import by_id
from derive.quantities import QUANTITIES


def names_of(kind: str) -> Iterable[str]:
    """Return the names of a kind."""
    if kind == "sheets":
        from invert.data import read_data
        from invert.sheets.assemble import models

        return sorted({row.model for row in models(read_data())})
    if kind == "claims":
        from derive.tables.shipped import rows_of
        from invert.validation.claim_rows import Claim

        return [row.id for row in rows_of(Claim)]
    if kind == "columns":
        from invert.report.columns import REGISTRY

        return REGISTRY
    from derive import presets
    from derive.glossary import term_names

    others: dict[str, Callable[[], Iterable[str]]] = {
        **{"chips": presets.hardware_names, "models": presets.model_names},
        **{"equations": by_id, "quantities": QUANTITIES.keys, "words": term_names},
    }
    return others[kind]()


def completes(*kinds: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return the completion of a parameter whose values are names of these kinds.

    >>> completes("chips")(None, None, "h100-")
    ['H100-SXM', 'H100-PCIe', 'H100-NVL']
    """

    def complete(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
        return [name for kind in kinds for name in names_of(kind) if name.lower().startswith(begun.lower())]

    return complete
