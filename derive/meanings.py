"""What people mean by a quantity beside other givens: one row for each meaning.

Words that name several quantities are settled before, by `derive.quantities.meant_beside`. These rows are for a quantity that is named
exactly, in a question that it does not fit.
"""

from typing import NamedTuple


class Meaning(NamedTuple):
    """A quantity that is meant by another one beside all of some givens.

    The question is answered with it if the quantity that was asked for lacks something, or leaves one of these givens unused. `why` is
    printed after its name. With `alone` it is meant only if no chip and no model is named and no given belongs to the quantity that was
    asked for. With `told` that quantity is answered, and the other one is printed beside it.
    """

    asked: str
    means: str
    beside: frozenset[str]
    why: str = ""
    alone: bool = False
    told: str = ""

    @property
    def warning(self) -> str:
        """Return the warning that another quantity was answered."""
        return f"{self.asked} is answered with {self.means}{self.why}"


MEANINGS = {
    row.asked: row
    for row in (
        Meaning(
            asked="cost_per_request",
            means="price_per_request",
            beside=frozenset(("input_price", "output_price")),
            why=", what its buyer pays by these prices: what serving it costs needs chips",
            alone=True,
        ),
        Meaning(
            asked="cost_per_token",
            means="fleet_cost_per_token",
            beside=frozenset(("fleet_utilisation",)),
            told="with the hours in which the chips wait",
        ),
        Meaning(asked="throughput", means="fleet_throughput", beside=frozenset(("replicas",)), told="of all replicas together"),
        Meaning(
            asked="requests_per_second",
            means="fleet_requests_per_second",
            beside=frozenset(("replicas",)),
            told="of all replicas together",
        ),
        Meaning(
            asked="mfu",
            means="compute_utilisation",
            beside=frozenset(("throughput",)),
            why=", the share of peak that a throughput reaches. mfu is what it would be without waits",
        ),
    )
}
"""The rows by the quantity that is asked for."""
