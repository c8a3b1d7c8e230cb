"""The names of the estimators, in the order of the tables. Forms of a result need no more of them."""

from collections.abc import Mapping

from derive.immutable import immutable


@immutable
class Named:
    """The names of an estimator that gives a range of KV bytes and is scored on models of known cache.

    `name` is its full name, `heading` the heading of its column. `about` says in an explanation what it assumes.
    """

    name: str
    heading: str
    about: str


KV_NAMES: Mapping[str, Named] = {
    "one_markup": Named(
        name="one mark-up", heading="KV from all prices", about="if one price/cost on everything pays for the long-context premium"
    ),
    "at_rent": Named(
        name="increments at rental cost", heading="KV from premium at cost", about="if rental cost pays for the long-context premium"
    ),
    "increment": Named(
        name="increments at the mark-up of known models",
        heading="KV from premium",
        about="if the price/cost of models of known architecture pays for the long-context premium",
    ),
    "headline": Named(name="class of its time", heading="typical KV", about="of models released before it, newer models count more"),
}
"""The estimators by their key in JSON and CSV. They are side by side in every output."""
