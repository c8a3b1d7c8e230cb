"""What a run of `infer` hands back: one inference a sheet, and the table of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from derive.briefly import brief
from derive.shipped import Tables, reading
from invert.assumptions import Assumptions
from invert.estimators.known import Judged, judged
from invert.estimators.readings import PairInference
from invert.posterior.data import Evidence
from invert.posterior.summary import Summary
from invert.records import Anchors, Estimate, KnownCache, Observables, PriceSheet, Reading, TierReading
from invert.sheets.rows import ModelRow, Problem
from invert.storage.tariffs import Tariff
from invert.storage.tiers import TierEvidence

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True)
class Inference:
    """What one sheet implies: readings and estimates side by side, each with the outside facts it rests on.

    `no_storage` says why tiers and storage are left out although the sheet sells them.
    """

    __repr__ = brief

    sheet: PriceSheet
    model: ModelRow | None
    observables: Observables
    anchors: Anchors
    bandwidth_bound: Reading
    pairs: tuple[PairInference, ...]
    tiers: tuple[TierReading, ...]
    implied_drain_time: Reading | None
    known: KnownCache | None
    evidence: Evidence = field(compare=False)
    summary: Summary
    kv_bytes: Mapping[str, Estimate]
    estimates: Mapping[str, Estimate]
    storage: tuple[TierEvidence, ...]
    tariffs: tuple[Tariff, ...]
    contradiction: str | None
    flags: tuple[str, ...]
    no_storage: str | None = None


@dataclass(frozen=True)
class InferenceTable:
    """All inferences of one run, the date, anchors and assumptions they share, and what was wrong with the input.

    `tables` are what was read for it, so that a report says nothing of files as they are later.
    `premiums` are provider, premium in and premium out of every sheet on offer that day, each pair of a provider once.
    """

    __repr__ = brief

    inferences: tuple[Inference, ...]
    as_of: date
    anchors: Anchors
    assumptions: Assumptions
    premiums: tuple[tuple[str, float, float], ...]
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    changes: Mapping[str, str] = field(default_factory=dict)
    tables: Tables | None = field(default=None, compare=False, repr=False)

    @property
    def given(self) -> dict[str, float]:
        """The anchors that were given [SI], by name."""
        return {name: value for name, value in self.anchors.values.items() if self.anchors.origin[name] == "given"}

    @cached_property
    def known(self) -> tuple[Judged, ...]:
        """What the same estimators make of models whose cache is known, on the same anchors; worked out when first asked for."""
        with reading(self.tables):
            return judged(self.assumptions)

    def to_frame(self) -> "DataFrame":
        """One row a sheet, as a pandas table."""
        from invert.report.frame import inference_frame

        return inference_frame(self)
