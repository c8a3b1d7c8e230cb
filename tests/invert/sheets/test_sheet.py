"""A price sheet as published, in a line."""

from datetime import date

from invert.sheets.sheet import CacheOffer, CachePrice, Price, PriceBand, PriceSheet


def price(amount: float, currency: str = "USD") -> Price:
    return Price(
        amount=amount,
        currency=currency,
        per="mtok",
        usd_per_token=amount / 1e6,
        verification="official",
        source_url="",
        notes="",
        origin="",
    )


def sheet(currency: str = "USD", *thresholds: int) -> PriceSheet:
    bands = tuple(
        PriceBand(threshold_tokens=at, threshold_inclusive=False, input=price(2.0), output=price(10.0, currency), cache_read=None)
        for at in (0, *thresholds)
    )
    return PriceSheet(
        provider="p",
        model="m",
        region="eu",
        service_tier="batch",
        as_of=date(2026, 11, 20),
        bands=bands,
        writes=(),
        storage=None,
        utc_hours="",
    )


def test_a_sheet_is_a_line_with_its_base_prices():
    assert str(sheet()) == "p/m (batch, eu) on 2026-11-20: 2 in, 10 out USD/MTok"
    assert str(sheet("CNY", 200_000)) == "p/m (batch, eu) on 2026-11-20: 2 USD in, 10 out CNY/MTok, 2 bands"


def test_what_an_offer_costs_in_its_lowest_band():
    prices = (CachePrice(threshold_tokens=0, price=price(2.5)), CachePrice(threshold_tokens=200_000, price=price(5.0)))
    assert CacheOffer(component="cache_write", ttl_seconds=300, prices=prices).base.amount == 2.5
