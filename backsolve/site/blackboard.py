"""Build the data of the blackboard for its script: its pictures, and the states that a reader may start from."""

from collections.abc import Collection
from dataclasses import asdict
from functools import cache

from backsolve.figures.board import SHARED, Drawn, drawn_pictures, legs, pictures
from backsolve.figures.usual import CHIP, DATA_TYPE, DEPLOYED, MODEL
from backsolve.site.formulas import NEUTRAL, Json
from backsolve.site.lookups import claims
from backsolve.site.presets import SUSTAINED, TITLES
from derive.presets import hardware, model
from derive.solving.api import solve
from derive.tables.questions import amount_in_si, read_givens
from derive.units import parse

LECTURE = "lecture"
_RACK = "GB200-NVL72:fp8"
"""The rack of the lecture."""
_CLAIMED = {
    **{"machine_balance_ratio": "A13a", "sparsity": "A13a", "balance_batch": "A13a", "active_params": "E3a", "kv_bytes_per_token": "E3a"},
    **{"fast_price_ratio": "A11a", "fast_speed_ratio": "A11c", "long_context_threshold": "E2a", "premium_out": "E2b"},
    **{"rl_multiplier": "D5a", "decode_efficiency": "D5a", "inference_tokens": "D6b", "pretrain_tokens": "D8b"},
}
"""Quantities of the lecture, each with the claim that states it or has it as a given."""


@cache
def presets() -> dict[str, dict[str, float]]:
    """Return the states that a reader may start from, by name: values [SI] of all sliders.

    >>> found = presets()
    >>> found["lecture"]["batch"], found["lecture"]["kv_bytes_per_token"], found["H100 + DeepSeek-V3"]["sparsity"]
    (2400.0, 1667.0, 18.135135135135137)
    """
    rack, chip = hardware(_RACK).givens, f"{CHIP}:{DATA_TYPE}"
    of_rack = {name: rack[name] for name in ("bytes_per_weight", "hbm_bandwidth", "hbm_capacity")}
    said = {name: _claim_number(id, name) for name, id in _CLAIMED.items()}
    said["rl_tokens"] = solve("rl_tokens", using=["training.equal_cost_rl"], given=said).value
    lecture = {"context_length": DEPLOYED["context_length"], "chips": rack["scale_up_size"], **of_rack, **said}
    lecture |= {"batch": lecture.pop("balance_batch")}
    del lecture["pretrain_tokens"]
    given = {name: DEPLOYED[name] for name in ("bytes_per_element", "chips")}
    asked = ("machine_balance_ratio", "sparsity", "kv_bytes_per_token", "active_params", "hbm_bandwidth", "hbm_capacity")
    known = hardware(chip).givens | model(MODEL).givens
    served = {name: known.get(name) or solve(name, hardware=chip, model=MODEL, given=given).value for name in asked}
    own = served | {name: DEPLOYED[name] for name in ("batch", "chips")}
    return {LECTURE: lecture, f"{CHIP.split('-')[0]} + {MODEL}": lecture | own}


def _claim_number(id: str, name: str) -> float:
    """Return a number of a claim [SI]: one of its givens, or its stated number."""
    claim = claims()[id]
    typed = read_givens(claim.givens).texts.get(name)
    return parse(name, typed) if typed else amount_in_si(name, claim.stated, claim.unit)


def blackboard_data(keys: Collection[str] = ()) -> Json:
    """Return the data of the script for the pictures with these keys, or for all of them."""
    shown = [one for one in pictures() if one.key in (keys or one.key)]
    return {
        "legs": legs(),
        "neutral": NEUTRAL,
        "sustained": SUSTAINED,
        "presets": presets(),
        "shared": [name for name in SHARED if any(name in one.moved_by for one in shown)],
        "sliders": [*SHARED, *dict.fromkeys(name for one in pictures() for name in one.sliders)],
        "titles": TITLES,
        "pictures": [asdict(one) for one in shown],
    }


@cache
def shown_pictures() -> list[Drawn]:
    """Return the pictures as a page shows them without a script: the lecture, at ideal rates."""
    return [*drawn_pictures(NEUTRAL | presets()[LECTURE])]
