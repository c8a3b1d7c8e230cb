"""The prices of the last release, with which an edit of prices.csv is compared."""

import gzip
import os
import zlib

from derive.files import LARGEST
from derive.tables import shipped
from invert.data import Data, cache_with_data
from invert.sheets.rows import SHIPPED_PRICES

RELEASED_PRICES = "released_prices.csv.gz"
"""The compressed prices.csv of the last release, in the same folder. It is also in a wheel, and needs neither git nor a network."""


@cache_with_data
def released_prices(data: Data) -> bytes | None:
    """Return prices.csv of the last release, or None if the present one is the same, or no release can be read."""
    try:
        with gzip.open(os.path.join(shipped.FOLDER, RELEASED_PRICES)) as file:
            content = file.read(LARGEST)
    except (OSError, EOFError, zlib.error):
        return None
    return content if content and content != data.tables.files.get(SHIPPED_PRICES) else None


def record_release(folder: str = shipped.FOLDER) -> None:
    """Write the present prices.csv of a folder as the prices of the release. Equal prices give equal bytes."""
    with open(os.path.join(folder, SHIPPED_PRICES), "rb") as prices, open(os.path.join(folder, RELEASED_PRICES), "wb") as file:
        file.write(gzip.compress(prices.read(), mtime=0))


if __name__ == "__main__":
    record_release()
