"""The equations, one module for each chapter, declared as data. Reading them imports no SymPy."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from importlib import import_module

from derive.answers import Answer
from derive.errors import AmbiguousName, RetiredName, UnknownName
from derive.immutable import Records
from derive.quantities import quantity
from derive.records import CHAINED_BY_ITSELF, Equation

CHAPTERS = (
    *("roofline", "batching", "scheduling", "context", "serving", "memory", "experts", "pipeline"),
    *("training", "bands", "readings", "cache", "architecture", "reversible", "prefill", "network", "energy"),
)

ROOF_IDS = ("serving.peak_throughput", "serving.peak_prefill_rate")
"""Bounds that only check results, or answer if they are named. They give almost no information about missing inputs."""


@lru_cache(maxsize=1)
def by_id() -> dict[str, Equation]:
    """Return all equations by id, in the order of the chapters."""
    return {row.id: row for chapter in CHAPTERS for row in _rows_of(chapter)}


def _rows_of(chapter: str) -> tuple[Equation, ...]:
    rows: tuple[Equation, ...] = import_module(f"derive.catalogue.{chapter}").EQUATIONS
    return rows


def equation(id: str) -> Equation:
    """Return an equation by its id, with or without `@version`. For a retired id the error names the successor.

    >>> equation("batching.balance_batch").title
    'Balance batch'
    """
    name, _, version = id.partition("@")
    found = by_id().get(name)
    if found is None:
        if former := _retired().get(name):
            raise RetiredName(name, *former[:2])
        raise UnknownName("equation", id, by_id(), "backsolve list names them")
    if version and version != str(found.version):
        changed = [f"version {at}: {said}" for at, said in enumerate(found.changes, 2) if version.isdecimal() and at > int(version) > 0]
        raise UnknownName("version", id, [found.reference], "; ".join(changed))
    return found


def cited_equation(reference: str) -> Equation:
    """Return an equation like `equation`, also a retired one if its last version is named, or the definition of a quantity.

    >>> cited_equation("memory.weight_bytes_resident@1").statement, cited_equation("tpot").id
    ('Retired. Use memory.resident_weight_bytes.', 'roofline.step_time')
    """
    name, _, version = reference.partition("@")
    if "." not in name:
        with suppress(UnknownName, AmbiguousName, KeyError):
            return definitions()[quantity(name).name]
    former = None if name in by_id() else _retired().get(name)
    return former[2] if former and version == str(former[2].version) else equation(reference)


def _retired() -> Mapping[str, tuple[str, str, Equation]]:
    from derive.catalogue.retired import RETIRED

    return RETIRED


def equations(chapter: str | None = None, symbol: str | None = None) -> tuple[Equation, ...]:
    """Return all equations, or the equations of a chapter or with a quantity.

    >>> [row.id for row in equations(symbol="batch_multiple")]
    ['batching.practical_batch', 'readings.threshold_with_weights']
    """
    if chapter is not None and chapter not in CHAPTERS:
        raise UnknownName("chapter", chapter, CHAPTERS, f"the chapters are {', '.join(CHAPTERS)}")
    name = None if symbol is None else quantity(symbol).name
    rows = by_id().values() if chapter is None else _rows_of(chapter)
    return Records(row for row in rows if name is None or name in row.symbols)


def chapter_text(chapter: str) -> tuple[str, str]:
    """Return the name of a chapter and its subject, from the docstring of its module.

    >>> chapter_text("roofline")
    ('Roofline', 'How long one decode step takes at least (lecture, 0:02:50 to 0:10:34).')
    """
    title, _, about = (import_module(f"derive.catalogue.{chapter}").__doc__ or "").split("\n\n")[0].replace("\n", " ").partition(": ")
    return title, about[:1].upper() + about[1:]


def rules_among(ids: Iterable[str]) -> list[Equation]:
    """Return the equations that are used by name or if no other equation answers: readings, conditions, rules of thumb.

    >>> [row.id for row in rules_among(["training.chinchilla@1", "batching.ridge_point@1"])]
    ['training.chinchilla']
    """
    return [row for row in map(equation, ids) if row.kind not in CHAINED_BY_ITSELF]


def basis_of(ids: Iterable[str], answers: Iterable[Answer]) -> str:
    """Return the basis of an answer by these equations: reading or rule, else bound or definition.

    >>> basis_of(["readings.joint_slope@2"], []), basis_of(["training.chinchilla@1"], []), basis_of(["batching.ridge_point@1"], [])
    ('reading', 'rule', 'definition')
    """
    chapters = {row.chapter for row in rules_among(ids)}
    bounded = any(one.bound or one.kind != "point" for one in answers)
    return ("reading" if chapters == {"readings"} else "rule") if chapters else ("bound" if bounded else "definition")


@lru_cache(maxsize=1)
def bounds() -> tuple[Equation, ...]:
    """Return the inequalities that are used without being named.

    >>> [row.id for row in bounds() if row.chapter == "memory"]
    ['memory.most_kv_copies', 'memory.fits', 'memory.sequences_that_fit']
    """
    return tuple(row for row in by_id().values() if row.sense != "=" and row.kind in CHAINED_BY_ITSELF and row.id not in ROOF_IDS)


@lru_cache(maxsize=1)
def definitions() -> dict[str, Equation]:
    """Return the definition of each quantity, for variants the default one.

    >>> definitions()["step_time"].id, definitions()["tensor_parallel_time"].id
    ('roofline.step_time', 'network.tensor_parallel_time')
    """
    rows = [row for row in by_id().values() if row.defines and row.sense == "=" and not (row.variant and not row.variant.default)]
    return {row.defines or "": row for row in reversed(rows)}


@lru_cache(maxsize=1)
def stand_ins() -> dict[Equation, frozenset[str]]:
    """Return definitions that replace missing givens, each with the inputs that must be known because no other equation gives them.

    >>> {row.id: sorted(needed) for row, needed in stand_ins().items() if "context" in row.id and row.chapter == "serving"}
    {'serving.mean_decode_context': ['output_tokens', 'prompt_tokens'], 'serving.context_of_prompt': ['prompt_tokens']}
    """
    made = {row.defines for row in by_id().values()}
    return {row: row.inputs - made for row in by_id().values() if row.stand_in}


@cache
def variants_of(group: str) -> Mapping[str, Equation]:
    """Return the leading equation of each variant of a group by the variant's name, the default first.

    Other equations of the same name follow, which define further quantities of this variant. They are used together with it.

    >>> list(variants_of("overlap"))
    ['max', 'sum', 'kv_plus_max', 'network', 'exposed']
    """
    found = [(row.variant, row) for row in by_id().values() if row.variant and row.variant.group == group]
    found.sort(key=lambda one: (not one[0].default, one[1].defines != group))
    named = [(variant.name, row) for variant, row in found] + [(name, row) for variant, row in found for name in variant.holds_for]
    named.sort(key=lambda one: one[1].defines != group)
    leading: dict[str, Equation] = {}
    for name, row in named:
        leading.setdefault(name, row)
    return leading
