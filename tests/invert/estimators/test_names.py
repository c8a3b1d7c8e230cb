"""What estimators are called: each by words of its own, for every form of a result to read."""

from invert.estimators.names import ESTIMATOR_NAMES, KV_NAMES


def test_estimators_with_a_column_are_told_apart_and_say_what_pays_for_the_premium():
    """But for the headline, which no price enters."""
    assert all(one.name for one in ESTIMATOR_NAMES.values())
    assert {"one_markup", "at_rent", "increment", "headline"} <= set(KV_NAMES) < set(ESTIMATOR_NAMES)
    for said in ([one.name for one in ESTIMATOR_NAMES.values()], [one.heading for one in KV_NAMES.values()]):
        assert len(set(said)) == len(said)
    assert all("KV" in one.heading.split() for one in KV_NAMES.values())
    assert {name for name, one in KV_NAMES.items() if not one.paid_with} == {"headline"}
