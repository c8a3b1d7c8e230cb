"""The names of the estimators, in the order of the tables. Forms of a result need no more of them."""

from collections.abc import Mapping

from derive.immutable import immutable


@immutable
class Named:
    """The names for the numbers of an estimator.

    `name` is the full name of the estimator, `remark` its basis. `heading` is the heading of the column of its KV bytes.
    Estimators with a heading give a range, are side by side in every output, and are scored on models of known cache. Without
    a heading it gives KV bytes without a range, or none. `paid_with` is the price level at which the estimator assumes
    that a long-context premium is paid.

    >>> ESTIMATOR_NAMES["at_rent"].name, ESTIMATOR_NAMES["at_rent"].heading, ESTIMATOR_NAMES["lecture"].heading
    ('increments at rental cost', 'KV from premium at cost', '')
    """

    name: str
    remark: str = ""
    heading: str = ""
    paid_with: str = ""


ESTIMATOR_NAMES: Mapping[str, Named] = {
    "lecture": Named(name="the lecture's readings"),
    "joint_point": Named(name="one markup, all anchors at their central values"),
    "one_markup": Named(
        name="one mark-up",
        remark="what the lecture assumes: no vendor prices context by another rule than the rest",
        heading="KV from all prices",
        paid_with="one price/cost on everything",
    ),
    "at_rent": Named(
        name="increments at rental cost",
        remark="no mark-up on context",
        heading="KV from premium at cost",
        paid_with="rental cost",
    ),
    "increment": Named(
        name="increments at the mark-up of known models",
        remark="a reading, its families few",
        heading="KV from premium",
        paid_with="the price/cost of models of known architecture",
    ),
    "headline": Named(
        name="class of its time",
        remark="models released before it, newer models count more",
        heading="typical KV",
    ),
    "market": Named(name="size by input price"),
}
"""The estimators by their key in JSON and CSV."""
KV_NAMES: Mapping[str, Named] = {name: one for name, one in ESTIMATOR_NAMES.items() if one.heading}
"""The estimators that give a range of KV bytes."""
