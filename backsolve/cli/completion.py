"""Names that a shell completes: chips, open models, priced models, equations and quantities."""

from collections.abc import Callable, Iterable

import click

_Completion = Callable[[click.Context, click.Parameter, str], list[str]]


def _chips() -> Iterable[str]:
    from derive.presets import hardware_names

    return hardware_names()


def _models() -> Iterable[str]:
    from derive.presets import model_names

    return model_names()


def _sheets() -> Iterable[str]:
    from invert.data import read_data
    from invert.sheets.assemble import models

    return sorted({row.model for row in models(read_data())})


def _equations() -> Iterable[str]:
    from derive.catalogue import by_id

    return by_id()


def _quantities() -> Iterable[str]:
    from derive.quantities import QUANTITIES

    return QUANTITIES


_NAMES = {"chips": _chips, "models": _models, "sheets": _sheets, "equations": _equations, "quantities": _quantities}


def completes(*kinds: str) -> _Completion:
    """Return the completion of a parameter whose values are names of these kinds.

    >>> completes("chips")(None, None, "h100-")
    ['H100-SXM', 'H100-PCIe', 'H100-NVL']
    """

    def complete(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
        return [name for kind in kinds for name in _NAMES[kind]() if name.lower().startswith(begun.lower())]

    return complete
