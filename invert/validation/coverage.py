"""Judge whether to trust ranges: their coverage against their level."""

from invert.assumptions import USUAL, Assumptions
from invert.records import Record

_TRUSTED, _NOT_TRUSTED = "trusted", "not trusted"


def judge_record(record: Record, class_: str, assumptions: Assumptions = USUAL) -> str:
    """Return a verdict on an estimator from its coverage on left-out models, then from its gain over `class_`.

    It is overconfident if the 90 % interval of its coverage is below the coverage that the level promises.

    >>> from invert.estimators.prediction import coverage_at
    >>> error = {"rms": 4.2, "rms_of_baseline": 1.1, "gain": -12.0, "standard_error": 3.6, "interval": (-18.0, -6.0)}
    >>> judge_record(Record(count=9, groups=6, coverage=(coverage_at(0.9, 0, 9),), **error), "typical KV")
    'not trusted: its ranges were right for 0 of 9, and at most 23% of these ranges are right, but 90% is promised'
    """
    level, errors = assumptions.level, assumptions.least_gain_in_errors
    found = record.at(level)
    if found is None:
        return f"{_NOT_TRUSTED}: no range of {level:.0%} was counted"
    told = f"its ranges were right for {found.right} of {found.count}"
    if found.high < level:
        return f"{_NOT_TRUSTED}: {told}, and at most {found.high:.0%} of these ranges are right, but {level:.0%} is promised"
    if record.gain < 0:
        return f"{_NOT_TRUSTED}: {told}, but it knows less than {class_} does, by {-record.gain:.2f} nats"
    said = "one standard error" if errors == 1 else f"{errors:g} standard errors"
    beyond = "" if record.has_skill(errors) else f", for no more than {said}"
    return f"{_TRUSTED}: {told} where {level:.0%} is promised, and it knows {record.gain:.2f} nats more than {class_}{beyond}"


def judge_ranks(coverage: float, p_value: float, quantities: int, level: float, faulty: bool) -> str:
    """Return a verdict on the sampler from the ranks of truths drawn from its priors, for one of several quantities.

    It fails if the ranks of one quantity are less uniform than chance allows. The level is for all quantities together.
    """
    found_out = p_value < (1 - level) / quantities
    if faulty:
        return "detected, as intended: this control has a built-in error" if found_out else "the built-in error is not visible here"
    told = f"ranges were right in {coverage:.1%} of cases where {level:.0%} is promised"
    return f"unsound: {told}, and ranks are not uniform" if found_out else f"sound: {told}"
