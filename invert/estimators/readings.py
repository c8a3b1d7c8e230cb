"""The point readings of one sheet: the lecture's readings and the joint reading, their predictions, and known values."""

from collections.abc import Mapping
from math import inf

from derive import presets
from derive.catalogue import equation
from derive.errors import NotCovered, UnknownName, WrongData
from invert.anchors import lecture_anchors
from invert.arrays import Values
from invert.assumptions import USUAL, Assumptions
from invert.data import Data
from invert.estimators import joint_point, lecture
from invert.forward_model import forward
from invert.inversion import invert_price
from invert.records import Anchors, Check, KnownCache, Observable, Observables, PairInference, TierReading
from invert.sheets.observables import observe, ratio
from invert.sheets.sheet import PriceSheet
from invert.sheets.tables import ModelRow
from invert.storage.tariffs import disclosed_tiers


def read_pair(sheet: PriceSheet, seen: Observables, index: int, anchors: Anchors, assumptions: Assumptions = USUAL) -> PairInference:
    """Return the readings of one pair of bands, and their predictions for the sheet."""
    pair, of_lecture = seen.pairs[index], lecture_anchors(anchors, assumptions)
    by_lecture, jointly = lecture.kv_bytes_from_threshold(pair, of_lecture), joint_point.joint_reading(pair, anchors.values)
    # The lecture's two readings as one set of hidden quantities: the KV bytes give L_star, and R gives the weight read.
    values = with_balance_context({**of_lecture, **by_lecture.values})
    weight = weight_of_output(values, pair.short_context, pair.output_input_ratio.value)
    hidden = {**values, "weight_compute_ratio": weight} if weight else {}
    used = ("output_input_ratio", "premium_in", "premium_out")
    return PairInference(
        pair=pair,
        lecture=by_lecture,
        lecture_checks=check_forward(sheet, seen, index, of_lecture, hidden, used[:1], assumptions),
        claimed_ratio=lecture.output_input_ratio_claimed(pair, assumptions),
        joint=jointly,
        joint_checks=check_forward(sheet, seen, index, anchors.values, jointly.values, used, assumptions),
    )


def with_balance_context(values: Mapping[str, float]) -> dict[str, float]:
    """Return hidden quantities with their balance context, at sustained rates and without attention FLOPs unless these are given."""
    known = {"mfu": 1.0, "mbu": 1.0, "attention_flops_per_pair": 0.0, **values}
    # Without a cache no context balances.
    balanced = equation("context.balance_context").right_side(known) if known["kv_bytes_per_token"] else inf
    return {**known, "balance_context": balanced}


def weight_of_output(values: Mapping[str, float], context: float, output_input_ratio: float) -> float | None:
    """Return the weight reads over arithmetic that remain from an output price at a context [token], or None if nothing remains."""

    def predict(weight_compute_ratio: float) -> float:
        return float(forward({**values, "weight_compute_ratio": weight_compute_ratio}, [context])["output_input_ratio"])

    return invert_price(predict, output_input_ratio)


def check_forward(
    sheet: PriceSheet, seen: Observables, index: int, anchors: Mapping[str, float], hidden: Mapping[str, float], used: tuple[str, ...],
    assumptions: Assumptions,
) -> tuple[Check, ...]:  # fmt: skip
    """Compare the forward model at hidden quantities with every component of the sheet that it predicts."""
    if not hidden:
        return ()
    # A sheet of one band has no mean contexts: the model then predicts the price at no context.
    bands, contexts = sheet.bands[index:], seen.contexts[index:] or (0.0,)
    base = bands[0]
    predicted = forward({**anchors, **hidden}, contexts, base.input.usd_per_token)
    found = [_check((seen.pairs[index] if index else seen).output_input_ratio, "", predicted["output_input_ratio"], used)]
    for place, band in enumerate(bands[1:], start=1):
        suffix = "" if place == 1 else f"@{band.threshold_tokens}"
        for name, asked, value in (
            ("premium_in", ratio(band.input, base.input), predicted["premium_in"][place]),
            ("premium_out", ratio(band.output, base.output), predicted["premium_out"][place]),
        ):
            found.append(_check(observe(name, asked, assumptions), suffix, value, used))
    if seen.storage_price and index == 0:
        found.append(_check(seen.storage_price, "", predicted["storage_price"], used))
    if base.cache_read and base.cache_read.usd_per_token:
        published, least = base.cache_read.usd_per_token, float(predicted["cache_read_price"])
        found.append(
            Check(
                component="cache_read_price",
                published=published,
                predicted=least,
                used_by_reading=False,
                inside_rounding_cell=least <= published,
                bound=True,
            )
        )
    return tuple(found)


def _check(published: Observable, suffix: str, value: Values, used: tuple[str, ...]) -> Check:
    component, predicted = published.name + suffix, float(value)
    inside = published.low <= predicted <= published.high
    return Check(
        component=component, published=published.value, predicted=predicted, used_by_reading=component in used, inside_rounding_cell=inside
    )


def tiers_of_lifetimes(sheet: PriceSheet, seen: Observables, data: Data) -> tuple[TierReading, ...]:
    """Return the tier that each lifetime points to by the drain-time rule, and the vendor's disclosure."""
    lifetimes = [one.ttl_seconds for one in seen.cache_write_premiums if one.ttl_seconds]
    said = disclosed_tiers(data, sheet.provider, sheet.model, lifetimes)
    return tuple(
        TierReading(
            ttl_seconds=ttl,
            lecture=lecture.tier_of_lifetime(data, ttl),
            devices=lecture.tier_of_lifetime(data, ttl, "range"),
            disclosed=said.get(ttl),
        )
        for ttl in lifetimes
    )


def known_cache(model: ModelRow | None, data: Data, assumptions: Assumptions = USUAL) -> KnownCache | None:
    """Return the KV bytes of a model of public architecture, stored and read, by the equations of its attention at `bytes_per_kv_value`."""
    if model is None or not model.architecture:
        return None
    try:
        stored, read = presets.kv_bytes(presets.architecture(model.architecture, data.tables), assumptions.bytes_per_kv_value)
    except NotCovered:
        return None
    except UnknownName as error:
        raise WrongData(f"models.csv {model.provider}/{model.model}: {error}") from None
    return KnownCache(architecture=model.architecture, grade=model.architecture_grade, stored=stored, read=read)
