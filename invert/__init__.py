"""Infer what public API price sheets imply about the models behind them.

`load` reads price files, `infer` runs the estimators on the sheets, `forward` predicts prices from hidden quantities. Use `InferenceTable`,
`Inference` and `Estimate` in annotations. `Assumptions` are the numbers that a run assumes.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from invert.assumptions import Assumptions as Assumptions
    from invert.forward_model import forward as forward
    from invert.inference import infer as infer
    from invert.records import Estimate as Estimate
    from invert.result import Inference as Inference
    from invert.result import InferenceTable as InferenceTable
    from invert.sheets.read import load as load

_HOMES = {
    **{"forward": "forward_model", "infer": "inference", "load": "sheets.read"},
    **{"Assumptions": "assumptions", "Estimate": "records", "Inference": "result", "InferenceTable": "result"},
}
__all__ = ["Assumptions", "Estimate", "Inference", "InferenceTable", "forward", "infer", "load"]


if not TYPE_CHECKING:
    # Unseen by type checkers, to which it would say that there is a name for every slip.
    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
