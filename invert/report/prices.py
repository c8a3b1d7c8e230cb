"""What a report says of prices: their table, the predicted prices, and the fast mode."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from derive.immutable import immutable
from derive.show.layout import label_lines
from derive.units import show
from invert.estimate_text import plain_digits
from invert.records import Check, FastMode
from invert.report.layout import NONE, Table, aligned
from invert.sheets.sheet import Price

if TYPE_CHECKING:
    from invert.result import Inference, Run


def price_parts(one: "Inference", table: "Run") -> list[str]:
    """Return all published and predicted prices, their grades and page, other offers of the model, and its fast mode."""
    page = one.sheet.bands[0].input.source_url
    source = f"({', '.join(sorted({price.verification for price in one.sheet.rows}))}){f' {page}' if page else ''}"
    for of in table.also_sold(one):
        source += f"; {' in '.join(filter(None, (of.service_tier.replace('_', '-'), of.region)))}: {of.times:.3g}x"
    return [predicted_prices(one), *label_lines("Source", [source]), *filter(None, [fast_mode_line(one, table)])]


PLACE = {name: f"price.{name}" for name in ("component", "threshold_tokens", "ttl_seconds")}
"""The place of a predicted price, by key."""


@immutable
class Prediction:
    """A published price and the forward model's prediction at the lecture's readings [as published], or None.

    `used`: the readings use the price. `bound`: the price may be higher. `met`: the prediction rounds to the price.
    """

    price: Price
    predicted: float | None = None
    used: bool = False
    bound: bool = False
    met: bool | None = None

    @property
    def residual(self) -> float | None:
        """Predicted over published price, minus 1. It is 0 for a price that the readings use, and None without a prediction."""
        if self.used:
            return 0.0
        return None if self.predicted is None else self.predicted / self.price.amount - 1


def predictions(one: "Inference", checked: tuple[Check, ...] | None = None) -> Iterator[Prediction]:
    """Yield every price of a sheet with its check: band by band, then writes and storage. The default checks use the lecture's readings."""
    of_lecture = one.pairs[0].lecture_checks if one.pairs else ()
    checks = {check.place: check for check in (of_lecture if checked is None else checked)}
    for price in one.sheet.prices.values():
        check, found = checks.get(price.place), Prediction(price=price)
        if checks and not price.threshold_tokens and (price.component == "input" or (check and check.used_by_reading)):
            found = replace(found, used=True)
        elif check and price.usd_per_token:
            amount = price.amount * check.predicted / check.published
            found = replace(found, predicted=amount, bound=check.bound, met=check.inside_rounding_cell)
        yield found


def predicted_prices(one: "Inference", supposed: Sequence[Prediction] = ()) -> Table:
    """Return every published price with the prediction of the forward model, if there is a threshold. A supposed one has its residual."""
    count, currency = 4 if supposed else 3 if one.pairs else 2, one.sheet.bands[0].input.currency
    rows = []
    for found in supposed or predictions(one):
        price, unit = found.price, "" if found.price.currency == currency else f" {found.price.currency}"
        amount = f"{price.amount:g}{unit}{'/h' if price.per == 'mtok_hour' else ''}"
        rows.append((name_of_price(price), amount, outcome(found), _residual(found))[:count])
    columns = (f"{currency} per million tokens", "published", "forward model", "residual")
    return aligned(columns[:count], rows, rule=False)


def name_of_price(price: Price) -> str:
    """Return `output above 200k`, and `cache write, kept 5 min`."""
    kept = f", kept {show('ttl', price.ttl_seconds)}" if price.ttl_seconds else ""
    at = show("long_context_threshold", price.threshold_tokens).removesuffix(" tokens")
    where = f" {'from' if price.threshold_inclusive else 'above'} {at}" if price.threshold_tokens else ""
    return price.component.replace("_", " ") + kept + where


def outcome(found: Prediction) -> str:
    """Return `used`, `2, missed`, or `at least 0.00001`. A bound below a price says little, so it is not called met."""
    if found.predicted is None:
        return "used" if found.used else NONE
    amount = plain_digits(found.predicted, 3)
    return f"{'at least ' * found.bound}{amount}" + ("" if found.bound and found.met else f", {'met' if found.met else 'missed'}")


def _residual(found: Prediction) -> str:
    return NONE if not found.residual or (found.bound and found.met) else f"{found.residual:+.0%}"


def fast_mode_in_brief(found: FastMode | None) -> str:
    """Return `2x/2.5x`: price and speed of a fast mode over standard."""
    if found is None:
        return NONE
    return f"{found.price_ratio:.3g}x" + (f"/{found.speed_ratio:.3g}x" if found.speed_ratio else "")


def fast_mode_line(one: "Inference", run: "Run") -> str:
    """Describe the batches of a fast mode and a slow mode in a sentence or two, or return an empty text."""
    found = one.fast_mode
    if found is None:
        return ""
    price = f"Fast mode: {found.price_ratio:.3g}x the price"
    if not (found.speed_ratio and found.batch_ratio and found.slow_mode_floor):
        given = f"fast_price_ratio={found.price_ratio:.6g} fast_speed_ratio=2.5"
        return f"{price}, at an unknown speed: backsolve solve fast_batch_ratio {given}"
    sold = next((of.times for of in run.also_sold(one) if of.service_tier == "batch"), None)
    at_batch = f"; batch is sold at {100 * sold:.0f} %" if sold else ""
    return (
        f"{price} at up to {found.speed_ratio:.3g}x the speed. If price follows cost, its batch is {plain_digits(found.batch_ratio)} times"
        f" smaller. A slow mode would then cost at least {100 * found.slow_mode_floor:.0f} % of standard{at_batch}."
    )
