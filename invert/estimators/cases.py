"""One sheet made ready for its estimators, and KV bytes by every one of them: what `infer` prints and the scoreboard scores."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import log

from derive.errors import WrongValue
from derive.units import show
from invert.anchors import anchors_of
from invert.estimators import estimates
from invert.estimators.at_rent import has_premium, kv_by_increment
from invert.estimators.readings import contradiction
from invert.posterior.data import Evidence, evidence_of
from invert.posterior.summary import Summary
from invert.priors import Beliefs
from invert.records import Anchors, Estimate, Observable, Observables, PairInference, PriceSheet, Tariff, given_value
from invert.sheets.observables import observables
from invert.sheets.rows import ModelRow
from invert.storage.tariffs import tariffs

KNOWN_SPREAD, SIZE_SPREADS = 0.05, {"assumed": 1.0, "models.csv (assumed)": 0.2, "models.csv (unverified)": 0.2}
"""How firmly active_params are known, in nats, by where they come from."""


@dataclass(frozen=True, slots=True)
class Case:
    """A sheet as read: ratios, anchors, write tariffs, the storage price as sold or as two write prices make it, and its evidence."""

    sheet: PriceSheet
    model: ModelRow | None
    seen: Observables
    anchors: Anchors
    tariffs: tuple[Tariff, ...]
    storage_price: Observable | None
    evidence: Evidence

    @property
    def max_context(self) -> int | None:
        """The longest context [token] of the model, where it is known."""
        return self.model.max_context if self.model else None

    @property
    def architecture(self) -> str | None:
        """Its row of architectures.csv, where it is public."""
        return (self.model.architecture or None) if self.model else None


def case_of(sheet: PriceSheet, model: ModelRow | None, common: Anchors, given: Mapping[str, float], held: Beliefs) -> Case:
    """A sheet read on the anchors of a run; raises `WrongValue` where the mean contexts given do not ascend."""
    max_context = model.max_context if model else None
    seen = observables(sheet, max_context, held)
    contexts = seen.contexts
    if contexts and contexts[0] >= contexts[1]:
        short, long = (show(name, value) for name, value in zip(("short_context", "long_context"), contexts, strict=False))
        raise WrongValue(f"short_context {short} must be below long_context {long}; give both with --anchor, or a smaller one")
    if any(low >= high for low, high in pairwise(contexts)):
        means = ", ".join(show("long_context", mean) for mean in contexts[1:])
        raise WrongValue(f"long_context puts the means of the long bands at {means}, which must ascend; give one that lies in its band")
    anchors = anchors_of(model, common)
    tariff = tariffs(sheet.bands[0].input.usd_per_token, seen.cache_write_premiums)
    by_tariff = next((one.storage_price for one in tariff if not one.problem), None)
    storage = (by_tariff.low, by_tariff.high) if by_tariff and by_tariff.low > 0 else None
    size = log(anchors.values["active_params"]), SIZE_SPREADS.get(anchors.origin["active_params"], KNOWN_SPREAD)
    kv = (log(given["kv_bytes_per_token"]), KNOWN_SPREAD) if "kv_bytes_per_token" in given else None
    evidence = evidence_of(sheet, seen, max_context, size, storage, kv)
    return Case(sheet, model, seen, anchors, tariff, seen.storage_price or by_tariff, evidence)


def broken_by(case: Case, pairs: tuple[PairInference, ...], given: Mapping[str, float]) -> str | None:
    """What the prices of a case break at the anchors given, if anything."""
    return contradiction(case.sheet, pairs[0] if pairs else None, case.anchors.values, given)


def kv_estimates(
    case: Case, pairs: tuple[PairInference, ...], summary: Summary, prior: Mapping[str, float], held: Beliefs, given: Mapping[str, float]
) -> dict[str, Estimate]:
    """KV bytes of one sheet by every estimator; the posterior is its `summary`, `prior` the spread of each quantity before it.

    KV bytes that are given stand in the place of what would rest on them. What rental cost pays for does not, and stays a reading.
    """
    problem = pairs[0].joint.problem if pairs and summary.feasible_fraction < estimates.FEASIBLE else None
    at_rent = kv_by_increment(case.sheet, case.evidence, held, case.max_context)
    if "kv_bytes_per_token" in given:
        known = given_value(given["kv_bytes_per_token"], "kv_bytes_per_token")
        return {"common_markup": known, "dollar_anchored": at_rent, "calibrated": known}
    common = estimates.kv_by_common_markup(
        summary, prior["kv_bytes_per_token"], has_premium(case.sheet), broken_by(case, pairs, given), problem,
        estimates.posterior_anchors(case.evidence),
    )  # fmt: skip
    return {"common_markup": common, "dollar_anchored": at_rent, "calibrated": estimates.kv_calibrated(at_rent, case.architecture)}
