"""What models of known architecture teach: how far increments lie from cost, and what KV bytes are usual.

Both are learned at run time from reference_class.csv, without the model being inferred and its siblings.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from math import log, sqrt
from statistics import fmean

from derive import presets
from derive.briefly import brief
from derive.catalogue import variants_of
from derive.errors import NotCovered, UnknownName, WrongData
from derive.shipped import BadRow, Problem, Row, Tables
from derive.shipped_rows import ReferenceModel
from invert.assumptions import UNLESS_GIVEN, USUAL, Assumptions
from invert.data import Data, once_a_run
from invert.estimators import at_rent
from invert.estimators.at_rent import PriceLines, attention_flops_at_cost, price_lines
from invert.estimators.cases import Case, case_of
from invert.estimators.densities import LONG_TAILS, Belief, Sample, log_normal, log_student, log_student_above, on_grid, sample_of
from invert.records import Estimate, PriceSheet
from invert.rent import rental
from invert.sheets.assemble import assembled, models
from invert.sheets.read import book_of, read_rows, refuse_bad_rate
from invert.sheets.rows import ModelRow, PriceBook

REFERENCE, LAUNCHED = ReferenceModel.TABLE, "prices_calibration.csv"


@dataclass(frozen=True, slots=True)
class Member:
    """A model of known architecture: its KV bytes and attention FLOPs, and the sheet of several bands that sells it, if any.

    kv_bytes_per_token is what a step reads [byte/token]; attention FLOPs are those of prefill, None where heads are unknown.
    """

    __repr__ = brief

    architecture: str
    family: str
    in_class: bool
    kv_bytes_per_token: float
    attention_flops_per_pair: float | None
    active_params: float | None
    sold: "Sold | None"


@dataclass(frozen=True, slots=True)
class Sold:
    """A sheet of several bands of a model of known architecture, as its model row describes it.

    `lines` are its prices over the mean contexts of its bands, `at_rent` the estimate of its KV bytes by increments.
    """

    __repr__ = brief
    case: Case
    lines: PriceLines
    at_rent: Estimate


@dataclass(frozen=True, slots=True)
class Calibration:
    """What known models teach: ln(KV bytes at cost / true), ln(attention FLOPs at cost / true), and ln KV bytes of the class.

    `kv_ratios` and `attention_ratios` are the ratios themselves by architecture; `left_out` was not learned from.
    """

    __repr__ = brief

    increments: Sample
    attention: Sample
    reference: Sample
    kv_ratios: Mapping[str, float]
    attention_ratios: Mapping[str, float]
    reference_members: tuple[str, ...]
    left_out: tuple[str, ...]


@once_a_run
def learn(data: Data, leave_out: str | None = None, assumptions: Assumptions = USUAL) -> Calibration:
    """The calibration without an architecture of architectures.csv and its siblings; with all members if none is named.

    Raises UnknownName for an architecture that does not exist and WrongData for a table that cannot be used.

    >>> from invert.data import read_data
    >>> data = read_data()
    >>> f"{learn(data).increments.mean:.2f} {learn(data).increments.sd:.2f}", learn(data, "GLM-4.6").increments.count
    ('-0.68 1.21', 4)
    """
    return learned(data, members(data, assumptions), siblings(data, leave_out) if leave_out else frozenset(), assumptions)


def learned(data: Data, known: Sequence[Member], left_out: frozenset[str], assumptions: Assumptions = USUAL) -> Calibration:
    """The calibration from these members, without some."""
    kept = [member for member in known if member.architecture not in left_out]
    kv = {member.architecture: ratio for member in kept if (ratio := kv_ratio(member))}
    attention = {member.architecture: ratio for member in kept if (ratio := attention_ratio(data, member, assumptions))}
    usual = {member.architecture: member.kv_bytes_per_token for member in kept if member.in_class}
    return Calibration(
        increments=_sample(kv, "sheets of several bands"),
        attention=_sample(attention, "sheets with an input premium"),
        reference=_sample(usual, "class members"),
        kv_ratios=kv,
        attention_ratios=attention,
        reference_members=tuple(usual),
        left_out=tuple(sorted(left_out)),
    )


def _sample(values: Mapping[str, float], what: str) -> Sample:
    if len(values) < 2:
        raise WrongData(f"{REFERENCE}.csv: {len(values)} {what} are left to learn from, and a spread needs two")
    return sample_of([log(value) for value in values.values()])


def kv_ratio(member: Member) -> float | None:
    """KV bytes at rental cost over those of the architecture; None without an increment."""
    median = member.sold.at_rent.median if member.sold else None
    return None if median is None else median / member.kv_bytes_per_token


def attention_ratio(data: Data, member: Member, assumptions: Assumptions = USUAL) -> float | None:
    """Attention FLOPs that the input increment pays for at rental cost, over those of the architecture; None without either."""
    if member.sold is None or member.sold.lines.input.slope <= 0 or not member.attention_flops_per_pair:
        return None
    return float(attention_flops_at_cost(member.sold.lines.input.slope, rental(data, assumptions).values)) / member.attention_flops_per_pair


# Members.


def siblings(data: Data, architecture: str) -> frozenset[str]:
    """The architecture and every other of its family in reference_class.csv; itself alone where it is in none.

    >>> from invert.data import read_data
    >>> sorted(siblings(read_data(), "GLM-4.5-Air"))
    ['GLM-4.5', 'GLM-4.5-Air', 'GLM-4.6', 'GLM-4.7']
    """
    presets.architecture(architecture, data.tables)
    families = {row.architecture: row.family for row in data.tables.rows_of(ReferenceModel)}
    if architecture not in families:
        # Its row may be a bad one: without its family it would be judged by its own siblings.
        data.tables.refuse_bad(REFERENCE, architecture=architecture)
    return frozenset({architecture, *(name for name, family in families.items() if family == families.get(architecture))})


def members(data: Data, assumptions: Assumptions = USUAL) -> tuple[Member, ...]:
    """Every sound row of reference_class.csv, with its architecture worked out and its sheet read.

    Facts that were given about one model or its traffic say nothing of these.
    """
    return _class(data, assumptions.apart_from(UNLESS_GIVEN))[0]


def class_problems(data: Data, assumptions: Assumptions = USUAL) -> tuple[Problem, ...]:
    """What is wrong with rows of reference_class.csv beyond the row itself, and with the launch sheets."""
    return (*calibration_book(data).problems[len(book_of(data).problems) :], *_class(data, assumptions.apart_from(UNLESS_GIVEN))[1])


def lacking(data: Data, assumptions: Assumptions = USUAL) -> tuple[str, ...]:
    """What is not learned from because a row is bad, theirs or one that they rest on: architectures, or the rows where the name is lost."""
    return _class(data, assumptions.apart_from(UNLESS_GIVEN))[2]


@once_a_run
def _class(data: Data, assumptions: Assumptions) -> tuple[tuple[Member, ...], tuple[Problem, ...], tuple[str, ...]]:
    book, tables = calibration_book(data), data.tables
    known = {f"{one.provider}/{one.model}": one for one in models(data)}
    found, faults = [], []
    left_out = [row["architecture"] for row, _, _ in tables.checked(REFERENCE).bad if row.get("architecture")]
    for row in tables.rows_of(ReferenceModel):
        try:
            found.append(_member(row, book, known, data, assumptions))
        except BadRow as error:
            left_out.append(row.architecture)
            faults.append(error.problem)
    return tuple(found), tuple(faults), (*dict.fromkeys(left_out), *_misnamed(tables))


def _misnamed(tables: Tables) -> Iterator[str]:
    """What rows of reference_class.csv that share a name stand for beyond that name: all of them but one are another member."""
    same: dict[str, dict[int, Row]] = {}
    for row, why in tables.raw_rows(REFERENCE)[1]:
        if not why:
            same.setdefault(row["architecture"], {})[row.place] = row
    for rows in same.values():
        if len(rows) > 1:
            places, families = " or ".join(map(str, rows)), " or ".join(dict.fromkeys(row["family"] for row in rows.values()))
            yield f"perhaps {'one' if len(rows) == 2 else len(rows) - 1} that row {places} misnames (family {families})"


def _member(row: ReferenceModel, book: PriceBook, known: Mapping[str, ModelRow], data: Data, assumptions: Assumptions) -> Member:
    """One row of reference_class.csv; `BadRow` where it rests on something that cannot be used."""
    try:
        architecture = presets.architecture(row.architecture, data.tables)
        preset, (_, read) = presets.of_architecture(architecture), presets.kv_bytes(architecture, row.kv_bytes_per_element)
    except (NotCovered, UnknownName) as error:
        raise BadRow(_fault(row, "architecture", str(error))) from None
    params = preset.givens.get("active_params")
    sold = _sold(row, book, known, params, data, assumptions) if row.calibration_sheet else None
    return Member(row.architecture, row.family, row.in_class, read, prefill_attention_flops(preset), params, sold)


def _fault(row: ReferenceModel, column: str, message: str) -> Problem:
    return Problem(f"{REFERENCE}.csv", row.place, column, message)


@once_a_run
def calibration_book(data: Data) -> PriceBook:
    """The shipped prices and the launch sheets of prices_calibration.csv, which `infer` does not see."""
    book = book_of(data)
    try:
        rows, problems = read_rows(BytesIO(data.tables.content(LAUNCHED)), LAUNCHED, book.fx)
    except WrongData as error:
        rows, problems = [], [Problem(LAUNCHED, None, None, str(error).removeprefix(LAUNCHED).lstrip(": "))]
    return PriceBook((*book.rows, *rows), book.fx, (*book.problems, *problems), book.newest_retrieved)


def prefill_attention_flops(preset: presets.Preset) -> float | None:
    """Attention FLOPs per query and context token of prefill, by the equation of its KV formula; None where heads are unknown.

    >>> prefill_attention_flops(presets.model("DeepSeek-V3")), prefill_attention_flops(presets.model("MiniMax-M3"))
    (4997120.0, None)
    """
    formula = variants_of("attention_flops_per_pair").get(preset.variants["kv_bytes_per_token"])
    if formula is None or not set(formula.symbols[1:]) <= set(preset.givens):
        return None
    return float(formula.right_side(preset.givens))


def _sold(
    row: ReferenceModel,
    book: PriceBook,
    known: Mapping[str, ModelRow],
    active_params: float | None,
    data: Data,
    assumptions: Assumptions,
) -> Sold:
    """The sheet that a row of reference_class.csv names, on its day, under the row of models.csv that `infer` reads it with."""
    wanted = row.calibration_sheet
    provider, _, model = wanted.partition("/")
    if wanted not in known:
        data.tables.refuse_bad("models", provider=provider, model=model)
    newest = book.newest_retrieved
    day = row.calibration_date or newest
    if day is None:
        raise BadRow(_fault(row, "calibration_date", "is blank, and no price has a retrieved_date to stand for it"))
    if newest and day > newest:
        raise BadRow(_fault(row, "calibration_date", f"{day} is later than the newest prices here, which were read on {newest}"))
    _refuse_spoilt(data.tables, wanted, book.problems)
    rows = [one for one in book.rows if f"{one.provider}/{one.model}" == wanted and one.service_tier == "standard"]
    for currency in {one.currency for one in rows} - {"USD"}:
        refuse_bad_rate(data.tables, currency, day)
    sheet, faults = assembled(rows, day, book.fx)
    if faults:
        raise BadRow(faults[0])
    no_bands = BadRow(_fault(row, "calibration_sheet", f"{wanted!r} has no sheet of several bands on {day}"))
    if sheet is None:
        raise no_bands
    model_row = known.get(wanted) or _unlisted(sheet, row.architecture, active_params)
    if row.max_context is not None:
        model_row = replace(model_row, max_context=row.max_context)
    case = case_of(sheet, model_row, data, assumptions)
    lines = price_lines(sheet, case.seen.contexts)
    if lines is None:
        raise no_bands
    return Sold(case, lines, at_rent.estimates(case, data, assumptions)["kv_bytes_per_token"])


def _unlisted(sheet: PriceSheet, architecture: str, active_params: float | None) -> ModelRow:
    """A row for a model that models.csv does not hold: a launch sheet of an open model, whose parameters are public."""
    grade = "verified" if active_params else ""
    known = architecture, "verified", None, active_params, grade, None, None, ""
    return ModelRow(sheet.provider, sheet.model, (), True, *known, f"{REFERENCE}.csv", "")


def _refuse_spoilt(tables: Tables, wanted: str, problems: Iterable[Problem]) -> None:
    """Raises `BadRow` for the first bad row of a sheet: without a whole band it would still be a sheet, of other prices."""
    of_sheet = {
        (f"{name}.csv", row.place)
        for name in ("prices", "prices_calibration")
        for row, _ in _price_lines(tables, name)
        if f"{row.get('provider')}/{row.get('model')}" == wanted
    }
    for problem in problems:
        if (problem.origin, problem.row) in of_sheet:
            raise BadRow(problem)


def _price_lines(tables: Tables, name: str) -> tuple[tuple[Row, str], ...]:
    try:
        return tables.raw_rows(name)[1]
    except WrongData:
        return ()


# What is believed of ln KV bytes.


def reference_only(calibration: Calibration) -> Belief:
    """What the reference class says of ln k, without a price: a normal density with its predictive spread."""
    return on_grid(calibration.reference, log_normal(calibration.reference))


def increment_only(ln_increment_kv: float, calibration: Calibration) -> Belief:
    """What an output increment says of ln k: its KV bytes at cost less the bias, Student's t with the predictive spread.

    `ln_increment_kv` is the logarithm of the median at rental cost.
    """
    corrected = calibration.increments.mirrored(ln_increment_kv)
    return on_grid(corrected, log_student(corrected), LONG_TAILS)


def combined(ln_increment_kv: float, calibration: Calibration) -> Belief:
    """What the increment and the reference class say of ln k together: the product of the two densities.

    >>> from math import exp
    >>> from invert.data import read_data
    >>> from invert.estimators.densities import central_interval
    >>> [round(exp(ln_kv) / 1e3) for ln_kv in central_interval(combined(log(76e3), learn(read_data())))]
    [37, 138, 503]
    """
    usual, priced = log_normal(calibration.reference), log_student(calibration.increments.mirrored(ln_increment_kv))
    return on_grid(calibration.reference, lambda points: usual(points) + priced(points))


def bounded(ln_bound: float, calibration: Calibration) -> Belief:
    """What a sheet without a premium says of ln k: the reference class, times the probability that its price covers so much.

    `ln_bound` is the logarithm of what `kv_bytes_within_price` gives; the price may lie off cost as far as increments do.
    Only an upper quantile is worth printing. A bound far below the whole class is taken for a price far below cost and moves
    it less than one nearby: the tails of Student's t are long.
    """
    usual, covered = log_normal(calibration.reference), log_student_above(calibration.increments.mirrored(ln_bound))
    return on_grid(calibration.reference, lambda points: usual(points) + covered(points))


# How good it is.


@dataclass(frozen=True, slots=True)
class Skill:
    """How well a belief foretells ln k of models that were left out: rms error of its median [nat], mean ln density there."""

    belief: str
    rms: float
    log_density: float


def leave_one_out(
    data: Data, with_siblings: bool = True, known: Sequence[Member] | None = None, assumptions: Assumptions = USUAL
) -> tuple[Skill, ...]:
    """The skill of each belief over the models with a sheet of several bands, every one judged by a calibration without it.

    `with_siblings` leaves its siblings out as well, which is what an inference does; else the model alone. `known` are by
    default all members.
    """
    known = members(data, assumptions) if known is None else known
    scores: dict[str, list[tuple[float, float]]] = {}
    for judged, at_cost_over_true in ((member, ratio) for member in known if (ratio := kv_ratio(member))):
        left_out = siblings(data, judged.architecture) if with_siblings else frozenset({judged.architecture})
        calibration, truth = learned(data, known, left_out, assumptions), log(judged.kv_bytes_per_token)
        at_cost = truth + log(at_cost_over_true)
        for name, belief in (
            ("reference class", reference_only(calibration)),
            ("increment", increment_only(at_cost, calibration)),
            ("both", combined(at_cost, calibration)),
        ):
            scores.setdefault(name, []).append((belief.quantile(0.5) - truth, belief.log_density(truth)))
    return tuple(
        Skill(name, sqrt(fmean(error**2 for error, _ in found)), fmean(density for _, density in found)) for name, found in scores.items()
    )
