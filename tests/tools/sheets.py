"""One sheet with every kind of price, and books of single rows, for tests of what is done with sheets."""

from datetime import date

from invert.sheets.assemble import sheets
from invert.sheets.read import read_rows
from invert.sheets.rows import FxRate, PriceBook
from invert.sheets.sheet import PriceSheet

TODAY = date(2026, 11, 20)
FX = {
    "CNY": (
        FxRate(currency="CNY", date=date(2026, 1, 1), units_per_usd=7.0),
        FxRate(currency="CNY", date=date(2026, 12, 1), units_per_usd=8.0),
    )
}
HEADER = (
    "provider,model,region,service_tier,component,threshold_tokens,ttl_seconds,amount,currency,effective_date,date_kind,valid_to,utc_hours"
)


def book_of(*rows: str) -> PriceBook:
    read, problems = read_rows([HEADER, *rows], "prices.csv", FX, overlay=True)
    assert problems == []
    return PriceBook(rows=tuple(read), fx=FX, newest_retrieved=TODAY)


def pair(provider: str, model: str, tier: str = "standard", dates: str = ",,", region: str = "", amount: float = 2) -> list[str]:
    """Input and output rows of a one-band sheet."""
    head = f"{provider},{model},{region},{tier}"
    return [f"{head},input,,,{amount},,{dates},", f"{head},output,,,{5 * amount},,{dates},"]


FULL = [
    *pair("google", "gemini-9-pro"),
    "google,gemini-9-pro,,standard,cache_read,,,0.2,,,,,",
    "google,gemini-9-pro,,standard,input,200000,,4,,,,,",
    "google,gemini-9-pro,,standard,output,200000,,18,,,,,",
    "google,gemini-9-pro,,standard,cache_write,,3600,4,,,,,",
    "google,gemini-9-pro,,standard,cache_write,,300,2.5,,,,,",
    "google,gemini-9-pro,,standard,cache_write,200000,300,5,,,,,",
    "google,gemini-9-pro,,standard,cache_storage,,,4.5,,,,,",
]


def full() -> PriceSheet:
    (sheet,) = sheets(book_of(*FULL))
    return sheet
