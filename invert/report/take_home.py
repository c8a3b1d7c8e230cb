"""What to take home of one sheet: size, KV bytes, mark-up, decode and tier, each in a line with what it rests on."""

from derive.units import show
from invert.records import Estimate
from invert.report.findings import estimate_text, held
from invert.result import Inference


def take_home(one: Inference) -> list[str]:
    """The first lines of a full report, the sentences that an analyst would quote."""
    return [line for line in (_size(one), _kv(one), _markup(one), _decode(one)) if line]


def _size(one: Inference) -> str:
    """Active parameters as stated, else as the price has them."""
    if one.model and one.model.active_params:
        return f"Size: {_plain('active_params', one.model.active_params)} active parameters, {one.model.active_params_grade}."
    found = one.market["active_params"]
    if found.kind != "interval":
        return f"Size: not identified, {found.because}."
    return f"Size: {estimate_text('active_params', found)} active parameters, as open models of that input price have them.{_record(found)}"


def _kv(one: Inference) -> str:
    found = one.kv_bytes["headline"]
    if found.kind == "given":
        return f"KV: {estimate_text('kv_bytes_per_token', found)}."
    if found.kind != "interval":
        return f"KV: not identified, {found.because}."
    known = f" Its own, by its architecture: {_plain('kv_bytes_per_token', one.known.read)}." if one.known else ""
    return f"KV read: {estimate_text('kv_bytes_per_token', found)}: {found.because}.{_record(found)}{known}"


def _record(found: Estimate) -> str:
    return f" Such ranges held {held(found.record)}." if found.record else ""


def _markup(one: Inference) -> str:
    found = one.market["input_markup"]
    if found.kind not in ("interval", "point"):
        return ""
    return f"Mark-up: input is sold at {estimate_text('input_markup', found)} times its cost at rent."


def _decode(one: Inference) -> str:
    found = one.estimates["bandwidth_bound_fraction"]
    if found.kind != "interval":
        return ""
    return f"Decode: bandwidth-bound {found.median:.0%} of the time ({found.low:.0%} to {found.high:.0%}); {found.because}."


def _plain(name: str, value: float) -> str:
    return show(name, value, digits=3)
