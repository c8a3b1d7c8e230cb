"""Prices changed by the user: another amount, a relative change, or a new band."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from operator import itemgetter

from derive.errors import WrongValue, shorten
from derive.tables.cells import token_count
from invert.sheets.assemble import placed, repriced
from invert.sheets.rules import BAND_LIMIT, LEAST_THRESHOLD, SAME_PRICE, typed_number
from invert.sheets.sheet import Place, Price, PriceSheet, money_unit, spelled

_ADDED, _COPIED = "added by hand", "copied from "
"""The origin of a price added by hand, and the beginning of the origin of a price that an added band copies from the band below."""
_OF_A_BAND = ("input", "output", "cache_read")
_LARGEST_THRESHOLD = 10_000_000
"""Maximum threshold of a new band [token]."""
_BY_SO_MUCH = re.compile(r"(?P<sign>[+-])(?P<share>[0-9.]+)\s*%|[x\u00d7](?P<times>[0-9.]+)")
_A_FACTOR = re.compile(r"[*x\u00d7]\s*([0-9.]+)|([0-9.]+)\s*[*x\u00d7]")
"""A factor as others write it."""

_WITH_A_UNIT = re.compile(r"[^0-9.,+-]*(?P<amount>[0-9]+(?:\.[0-9]+)?)[^0-9.,]*")
"""A number between other characters."""


def with_amounts(sheet: PriceSheet, amounts: Mapping[str, str]) -> PriceSheet:
    """Return the sheet with some prices replaced.

    The amounts are such as `{"output": "20", "input@200k": "+10%", "cache_write:5min": "x1.5"}`. They are in the currency and unit of the
    price they replace, with verification `user`. A relative change applies to the published price. A new threshold adds a band. Prices that
    are not given are the prices of the band below. `copies` lists the copied prices. Raise UnknownName for an unknown component. Raise
    WrongValue for an amount that is not a price, for an unknown place, and for two amounts for one place.
    """
    before = sheet.prices
    prices = _with_bands(sheet, amounts)
    given: dict[Place, str] = {}
    for spec, amount in amounts.items():
        place = placed(spec, prices)
        if place in given:
            raise WrongValue(f"{shorten(given[place])} and {shorten(spec)} are the same price of the sheet. Give it once")
        given[place] = spec
        try:
            price = repriced(prices[place], _amount_of_text(amount.strip(), place, before, prices[place]), prices.values())
            prices[place] = price if place in before else replace(price, origin=_ADDED)
        except WrongValue as error:
            raise WrongValue(f"{spelled(place)}: {error}") from None
    for place in sorted(place for place in prices if place not in before and place not in given):
        prices[place] = _copied_price(place, prices)
    return replace(sheet, rows=tuple(prices.values()))


def without_places(sheet: PriceSheet, places: Collection[Place]) -> PriceSheet:
    """Return the sheet without some of its prices. A band without an input price is removed."""
    gone = {at for component, at, _ in places if component == "input"}
    return replace(sheet, rows=tuple(row for row in sheet.rows if row.place not in places and row.threshold_tokens not in gone))


def copies(sheet: PriceSheet) -> dict[Place, str]:
    """Return the prices that an added band copies from the band below, each with the name of the copied price."""
    return {place: price.origin.removeprefix(_COPIED) for place, price in sheet.prices.items() if price.origin.startswith(_COPIED)}


def _copied_price(place: Place, prices: Mapping[Place, Price]) -> Price:
    """Return the price of the band below, which the vendor does not publish for this band."""
    component, at, _ = place
    price = next(price for price in _band_below(at, prices) if price.component == component)
    said = price.origin if price.origin.startswith(_COPIED) else f"{_COPIED}{spelled(price.place)}"
    changed = replace(price, verification="user", source_url="", notes=said, origin=said, valid_to=None)
    return replace(changed, threshold_tokens=at, threshold_inclusive=prices[place].threshold_inclusive)


def is_added(spec: str, sheet: PriceSheet) -> bool:
    """Return whether a price set by hand is at a place without a published price."""
    return sheet.prices[placed(spec, sheet.prices)].origin == _ADDED


def bands_the_wrong_way_round(sheet: PriceSheet) -> list[str]:
    """Return the prices of a band that are below the prices of the band before it. This happens if only one of them was changed."""
    prices = sheet.prices
    thresholds = [band.threshold_tokens for band in sheet.bands]
    found = []
    for component in ("input", "output"):
        for below, above in pairwise((component, at, None) for at in thresholds):
            if prices[above].usd_per_token < prices[below].usd_per_token * (1 - SAME_PRICE):
                found.append(f"{spelled(above)} {prices[above].amount:g} is below {spelled(below)} {prices[below].amount:g}")
    return found


def _with_bands(sheet: PriceSheet, amounts: Mapping[str, str]) -> dict[Place, Price]:
    """Return the prices of a sheet with the bands that the amounts add, at the prices of the band below."""
    prices, like = dict(sheet.prices), sheet.bands[-1].threshold_inclusive
    thresholds = {band.threshold_tokens for band in sheet.bands}
    new = sorted({at for spec in amounts if (at := _threshold_of_band(spec)) is not None} - thresholds)
    for at in new:
        if not LEAST_THRESHOLD <= at <= _LARGEST_THRESHOLD:
            raise WrongValue(f"a band may begin at 1k to 10M tokens, such as input@200k, and not at @{at}")
        copied = [replace(price, threshold_tokens=at, threshold_inclusive=like) for price in _band_below(at, prices)]
        prices |= {price.place: price for price in copied}
    if len(thresholds) + len(new) > BAND_LIMIT:
        raise WrongValue(f"that makes {len(thresholds) + len(new)} bands, and at most {BAND_LIMIT} are read")
    return prices


def _band_below(at: int, prices: Mapping[Place, Price]) -> Iterable[Price]:
    """Return the prices of a prompt that is shorter than a threshold."""
    below = sorted((place for place in prices if place[0] in _OF_A_BAND and place[1] < at), key=itemgetter(1))
    return {place[0]: prices[place] for place in below}.values()


def _threshold_of_band(spec: str) -> int | None:
    """Return the threshold of a price of a band, or None for any other price or an unreadable threshold."""
    component, _, threshold = spec.strip().partition("@")
    return token_count(threshold) if component in _OF_A_BAND else None


def _amount_of_text(text: str, place: Place, before: Mapping[Place, Price], like: Price) -> float:
    """Return the amount in a text, in the unit of the price `like`: a number, or a change relative to the present price of the place."""
    form = _BY_SO_MUCH.fullmatch(text)
    if not form:
        if factor := _A_FACTOR.fullmatch(text):
            raise WrongValue(
                f"{shorten(text)} is neither an amount nor a change. For this multiple of the price write x{factor[1] or factor[2]}"
            )
        if re.match(r"[+x\u00d7*/]|.*%$", text):
            raise WrongValue(f"{shorten(text)} is neither an amount such as 12.5 nor a change such as +10%, -10% or x1.5")
        return _bare_number(text, money_unit(like.currency, like.per))
    if place not in before:
        raise WrongValue(f"{shorten(text)} changes a price that the sheet does not have. Give an amount such as 12.5")
    if form["times"]:
        return _rounded(before[place].amount * typed_number(form["times"]))
    share = typed_number(form["share"]) / 100
    if form["sign"] == "-" and share > 1:
        raise WrongValue(f"{shorten(text)} makes the price negative. Write at most -100%")
    return _rounded(before[place].amount * (1 + share if form["sign"] == "+" else 1 - share))


def _bare_number(text: str, unit: str) -> float:
    """Return the number in a text, in the unit of its price. Raise WrongValue for a number with another unit."""
    try:
        return typed_number(text)
    except WrongValue:
        if form := _WITH_A_UNIT.fullmatch(text):
            amount = form["amount"]
            raise WrongValue(
                f"{shorten(text)} has a unit or a sign. Here a price is in {unit}: write {amount} for {amount} {unit}"
            ) from None
        raise


def _rounded(amount: float) -> float:
    """Return an amount without the last digits, which are rounding errors."""
    return float(f"{amount:.12g}")
