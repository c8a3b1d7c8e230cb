"""The names of the estimators, in the order of the tables. Forms of a result need no more of them."""

from collections.abc import Mapping

from derive.immutable import immutable


@immutable
class Named:
    """The names of an estimator that gives a range of KV bytes and is scored on models of known cache.

    `heading` is its name in every output. `about` says in an explanation what it assumes.
    """

    heading: str
    about: str


KV_NAMES: Mapping[str, Named] = {
    "one_markup": Named(heading="KV from all prices", about="if one price/cost on everything pays for the long-context premium"),
    "at_rent": Named(heading="KV from premium at cost", about="if rental cost pays for the long-context premium"),
    "increment": Named(
        heading="KV from premium",
        about="if the price/cost of models of known architecture pays for the long-context premium",
    ),
    "headline": Named(heading="typical KV", about="of models released before it, newer models count more"),
}
"""The estimators by their key in JSON and CSV. They are side by side in every output."""
