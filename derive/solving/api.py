"""Any question, its givens single values, ranges, lists or sweeps."""

from collections.abc import Collection, Iterable, Mapping

from derive.quantities import quantity
from derive.solving.chain import answer
from derive.solving.conventions import USUAL, Conventions
from derive.solving.givens import Interval, Series, spread
from derive.solving.questions import question
from derive.solving.result import Solution

Given = float | str | Collection[float | str]
"""A value in SI or as text, or many: a list, a tuple, an array of numpy."""


def solve(
    unknown: str,
    *,
    hardware: str | Iterable[str] | None = None,
    model: str | Iterable[str] | None = None,
    using: Iterable[str] = (),
    variants: Mapping[str, str] | None = None,
    count: str = "flop",
    bytes: str = "decimal",
    efficiency: str = "ideal",
    anyway: bool = False,
    **given: Given,
) -> Solution:
    """Any quantity from what is given, through as many equations as it takes, forwards or backwards.

    Values are SI numbers or text as typed on the command line, ranges ("80B..120B", "0.4±0.1"), lists and sweeps
    ("1..4096:log") included; `variants` picks the equation of a group that is not the default, as {"overlap": "sum"};
    `using` joins conditions, heuristics and variants by id; `count`, `bytes` and `efficiency` are conventions, and
    `anyway` answers where memory is short. The answers are points, intervals, or none with a reason; `sweep` holds those
    of a list or sweep, `spans` what a range comes to. Raises `UnknownName`, `WrongUnit` or `WrongValue` for what cannot
    be read.

    >>> solution = solve("balance_batch", machine_balance_ratio=300, sparsity=8)
    >>> solution.answers[0].value, solution.equations
    (2400.0, ('batching.balance_batch@1',))
    >>> solve("kv_bytes_per_token", using=["readings.threshold_is_crossover"], active_params="100B",
    ...       bytes_per_weight=1, machine_balance_ratio=300, long_context_threshold="200k").answers[0].value
    1666.6666666666667
    >>> spans = solve("balance_batch", machine_balance_ratio="280..320", sparsity=8).spans
    >>> spans.method, spans.low, spans.high
    ('bounds', 2240.0, 2560.0)
    """
    return respond(unknown, given, hardware, model, using, variants, Conventions(count, bytes, efficiency), anyway)


def respond(
    unknown: str,
    given: Mapping[str, Given],
    hardware: str | Iterable[str] | None = None,
    model: str | Iterable[str] | None = None,
    using: Iterable[str] = (),
    variants: Mapping[str, str] | None = None,
    conventions: Conventions = USUAL,
    anyway: bool = False,
) -> Solution:
    """`solve`, with everything as the command line has it: what is given by name, the switches as a record."""
    spreads = {}
    for spelled, value in given.items():
        if found := spread(quantity(spelled).name, value, conventions.read):
            spreads[spelled] = found
    plain = {spelled: value for spelled, value in given.items() if spelled not in spreads}
    spans = {quantity(spelled).name: found for spelled, found in spreads.items()}
    asked = question(unknown, plain, hardware, model, using, variants, conventions, anyway, spans)
    intervals = {name: found for name, found in spans.items() if isinstance(found, Interval)}
    series = {name: found for name, found in spans.items() if isinstance(found, Series)}
    if series:
        from derive.solving.sweeps import swept

        return swept(asked, series, intervals)
    if intervals:
        from derive.solving.intervals import spanned

        return spanned(asked, intervals)
    return answer(asked)
