"""The records of the catalogue: Equation, Variant, Requirement, Step, Premise and Source."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from datetime import date
from functools import cached_property
from inspect import unwrap
from math import isclose
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol

from derive.errors import UnknownName, WrongValue, shorten
from derive.immutable import Bare, immutable
from derive.quantities import CONSTANTS, quantity, symbol
from derive.quantities.formula import as_expression, equation_in_latex
from derive.trees import AT_LEAST, AT_MOST, TreePair, Written, evaluate, text, tree_of_value
from derive.units import parse

if TYPE_CHECKING:
    from sympy import Expr, Rel

    from derive.expressions.sympy_solver import SolvedRegime

DEFINITION, BOUND, ESTIMATE = "definition", "bound", "estimate"
CONDITION, HEURISTIC, EMPIRICAL = "condition", "heuristic", "empirical"
CHAINED_BY_ITSELF = (DEFINITION, BOUND, ESTIMATE)
"""The kinds of equations. An estimate is a sum of times and no bound. It is used only as a requested variant."""

LOWER, UPPER = "lower", "upper"
"""Direction of a bound with the sense =: its left side is at least, or at most, the right side."""

HOLDS = 1e-9
"""Relative difference up to which two sides count as equal."""


def argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the quantities of a function of the catalogue, in order: its parameters, or its stated names.

    >>> argument_names(lambda batch, chips: batch / chips)
    ('batch', 'chips')
    """
    stated: tuple[str, ...] | None = getattr(function, "argument_names", None)
    if stated is not None:
        return stated
    plain = function.__code__
    names: tuple[str, ...] = plain.co_varnames[: plain.co_argcount]
    return names


def tree_of_function(function: Callable[..., Any]) -> Any:
    """Return the result of a function of quantities as a tree, or a tuple of trees, with the constants as numbers.

    >>> tree_of_function(lambda batch, chips: (batch, 2 * chips)), tree_of_function(lambda batch: batch >= 1)
    (('batch', ('*', 2, 'chips')), ('>=', 'batch', 1))
    """
    found = function(*(int(CONSTANTS[name].value) if name in CONSTANTS else Written(name) for name in argument_names(function)))
    return tuple(map(tree_of_value, found)) if isinstance(found, tuple) else tree_of_value(found)


@immutable
class Requirement(Bare):
    """A condition for using an equation: a comparison of the quantities that its parameters name, and the meaning of a violation.

    Numbers are compared to the precision of an answer.
    """

    holds: Callable[..., Any]
    otherwise: str = ""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the quantities of the comparison."""
        return argument_names(self.holds)

    def compared(self, values: Mapping[str, Any]) -> Any:
        """Return the comparison at values of all its quantities: numbers, arrays or symbols."""
        return self.holds(*[values[name] for name in self.names])

    def relation(self) -> Any:
        """Return the comparison as a SymPy relation, or true or false if it does not depend on the quantities."""
        return self.compared({name: symbol(name) for name in self.names})

    def is_met(self, values: Mapping[str, Any]) -> bool:
        """Return whether the requirement is met. If its bound itself is allowed, a value a billionth beyond the bound is allowed too.

        >>> at_least, above = Requirement(holds=lambda batch: batch >= 1), Requirement(holds=lambda batch: batch > 1)
        >>> at_least.is_met({"batch": 1 - 1e-12}), above.is_met({"batch": 1.0})
        (True, False)
        """
        try:
            return bool(self.compared(values)) or self.is_at_bound(values)
        except (TypeError, OverflowError):
            # A power of a negative number may be complex and cannot be compared.
            return False

    def is_at_bound(self, values: Mapping[str, float]) -> bool:
        """Return whether its two sides may be equal, and are equal up to rounding."""
        return self.bounding_sides is not None and isclose(*(evaluate(side, values) for side in self.bounding_sides), rel_tol=HOLDS)

    @cached_property
    def _tree(self) -> Any:
        return tree_of_function(self.holds)

    @cached_property
    def bounding_sides(self) -> TreePair | None:
        """Return its two sides if they may be equal, or None if they may not, or if it is always true or always false."""
        return self._tree[1:] if isinstance(self._tree, tuple) and self._tree[0] in (AT_LEAST, AT_MOST) else None

    def text(self, simplify: bool = False) -> str:
        """Return the comparison with the names of its quantities: as written, or without factors that are 1 by default.

        >>> Requirement(holds=lambda batch, chips: batch >= 2 * chips).text()
        'batch >= 2*chips'
        """
        sign, *sides = self._tree
        if simplify:
            from derive.expressions.algebra import sort_terms

            sides = [*map(sort_terms, sides)]
        return f" {sign} ".join(map(text, sides))


@immutable
class Source(Bare):
    """The place of an equation in a recording or text, and the encoded formula if it differs from the source.

    `start` and `end` are seconds of the recording at the address `video`. `page` is a page, section or card of a text. `published` is the
    day, if known.
    """

    kind: str
    title: str
    author: str
    url: str
    said: str
    start: int | None = None
    end: int | None = None
    page: str = ""
    year: int = 2026
    encoded: str = ""
    video: str = ""
    published: date | None = None

    @property
    def address(self) -> str:
        """Return the address of the passage: the recording at its second, else the page.

        >>> Source(kind="talk", title="t", author="a", url="u", said="s", start=1404, video="https://youtu.be/v").address
        'https://youtu.be/v?t=1404'
        """
        return self.url if not self.video or self.start is None else f"{self.video}?t={self.start}"

    @property
    def dated(self) -> str:
        """Return the day of publication, or the year."""
        return f"{self.published.day} {self.published:%B %Y}" if self.published else str(self.year)

    @property
    def place(self) -> str:
        """Return the time or page, as a reader would look it up."""
        if self.start is None:
            return self.page
        return clock(self.start) + (f"-{clock(self.end)}" if self.end else "")


def clock(seconds: int) -> str:
    """Return seconds of a recording as h:mm:ss."""
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


@immutable(kw_only=False)
class Premise:
    """A premise of a step, evaluated at a point.

    `id` is an equation of the catalogue, a step of its derivation (`batching.balance_batch#1`), or an earlier step of the same derivation
    (`#1`). `point` replaces quantities all at once: by another one (its name), by a number, or by an expression of others (a function of
    them).
    """

    id: str
    point: Mapping[str, "str | int | Callable[..., Any]"] = field(default_factory=dict)


def at(id: str, **point: "str | int | Callable[..., Any]") -> Premise:
    """Return a premise at a point, as a catalogue entry writes it."""
    return Premise(id, point)


@immutable
class Step:
    """One step of a derivation: from premises, by elimination of some quantities, to a relation.

    A step without premises defines the quantity on its left, or states a claim. `stationary` names the quantities in which the right side
    of its one premise has no slope. The last step has no `relation`, because its result is the equation itself.
    """

    operation: str
    premises: tuple[Premise, ...] = ()
    eliminated: tuple[str, ...] = ()
    stationary: tuple[str, ...] = ()
    relation: Callable[..., tuple[Any, Any]] | None = None


def trees_of_relation(relation: Callable[..., tuple[Any, Any]]) -> TreePair:
    """Return both sides of a relation as trees, with like terms on the right added and in order."""
    from derive.expressions.algebra import sort_terms

    left, right = tree_of_function(relation)
    return left, sort_terms(right)


def in_place(function: Callable[..., Any], values: Mapping[str, int | str]) -> Callable[..., Any]:
    """Return a function of other parameters, with these arguments replaced by numbers or by other names.

    >>> argument_names(in_place(lambda batch, chips: batch / chips, {"chips": 8, "batch": "batch_multiple"}))
    ('batch_multiple',)
    """
    stand = [values.get(name, name) for name in argument_names(function)]
    left = tuple(dict.fromkeys(name for name in stand if isinstance(name, str)))

    def reduced(*arguments: Any) -> Any:
        known: dict[int | str, Any] = dict(zip(left, arguments, strict=True))
        return function(*[known.get(one, one) for one in stand])

    reduced.__wrapped__ = function  # type: ignore[attr-defined]
    reduced.argument_names = left  # type: ignore[attr-defined]
    return reduced


@immutable
class Variant(Bare):
    """One of several definitions of a quantity: its group, the name that selects it, and whether it is the default.

    `holds_for` has other names of the group under which the equation is the same.
    """

    group: str
    name: str
    default: bool = False
    holds_for: tuple[str, ...] = field(default=(), repr=False, compare=False)


@immutable
class Unmet:
    """A violated requirement: its text, its equation, its quantities, and the meaning in words."""

    text: str
    id: str
    names: tuple[str, ...]
    meaning: str


@immutable(eq=False)
class Equation(Bare):
    """One equation of the catalogue, declared as data.

    `relation` has the quantities (and constants with units) of the equation as parameters, by their registry names. It returns the quantity
    on the left and the expression on the right. It is called when the symbols are first needed. `defined_elsewhere` is true for a further
    relation of a quantity that another equation defines. The equation may be used if each entry of `requires` is true. `variant` is set if
    several equations define one quantity. An equation that is true for only one of them also has its name. A `stand_in` is used without a
    name only if its quantity is requested, or is not given although all its inputs are known. A condition or a rule of thumb with a `rule`,
    its name on the first line of an answer, is used if definitions give no answer. `direction` is the side on which a bound with the sense
    = limits its left side. `changes` has one line for every version after the first: the change of the mathematics, and the reason.

    Every question reads `parameters`, all quantities and constants of the relation as they are written, `symbols`, those without the
    constants, `inputs`, the quantities on the right, `names`, all its quantities in no order, and `defines`, the quantity on the left,
    or None for a limit, a claim and a further relation.
    """

    id: str
    title: str
    kind: str = DEFINITION
    defined_elsewhere: bool = False
    variant: Variant | None = None
    relation: Callable[..., tuple[Any, Any]]
    sense: str = "="
    direction: str = ""
    changes: tuple[str, ...] = ()
    requires: tuple[Requirement, ...] = ()
    statement: str
    assumptions: tuple[str, ...] = ()
    rule: str = ""
    given: Mapping[str, str] = field(default_factory=dict)
    """Values of the example that are not those of `derive.catalogue.example_values`."""

    result: str = ""
    """The left side of the example, to four digits. For an inequality it is the bound."""

    derivation: Callable[[], tuple[Step, ...]] | None = None
    sources: tuple[Source, ...]
    stand_in: bool = False
    last_version: int = 0
    put_in: Mapping[str, int | str] = field(default_factory=dict)
    """Quantities at their neutral default that were removed from it (`derive.solving.question.defaults`), with their values."""

    unsaid: tuple[str, ...] = ()
    """Quantities with a neutral default that the source leaves out of its formula. A citation shows the formula without and with them."""

    parameters: tuple[str, ...] = field(init=False)
    symbols: tuple[str, ...] = field(init=False)
    inputs: frozenset[str] = field(init=False)
    names: frozenset[str] = field(init=False)
    defines: str | None = field(init=False)

    if not TYPE_CHECKING:
        # Unseen by type checkers, which would accept every misspelled name.
        def __getattr__(self, name: str) -> object:
            """Return what is read of the relation. All of it is stored when the first of it is read."""
            if name not in ("parameters", "symbols", "inputs", "names", "defines"):
                raise AttributeError(f"an equation has no attribute {name!r}")
            parameters = argument_names(self.relation)
            symbols = tuple(name for name in parameters if name not in CONSTANTS)
            defining = self.kind in CHAINED_BY_ITSELF or (self.variant and self.kind != CONDITION)
            defined = symbols[0] if defining and self.sense == "=" and not self.defined_elsewhere else None
            sets = {"inputs": frozenset(symbols[1:]), "names": frozenset(symbols)}
            self.__dict__.update(parameters=parameters, symbols=symbols, defines=defined, **sets)
            return self.__dict__[name]

    @cached_property
    def example(self) -> Mapping[str, str]:
        """Return the inputs of its worked example, as a person types them. `result` is the left side."""
        from derive.catalogue.example_values import EXAMPLE_VALUES

        values = {**EXAMPLE_VALUES, **self.given} if self.result else {}
        return {name: values[name] for name in self.symbols[1:] if name in values}

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Return the steps of the derivation. They are made when they are first read, because no answer needs them."""
        return self.derivation() if self.derivation else ()

    @property
    def version(self) -> int:
        """Return the version of its mathematics: one more than its changes, or the last one of a retired equation."""
        return self.last_version or 1 + len(self.changes)

    @property
    def chapter(self) -> str:
        """Return the part of the id before the dot."""
        return self.id.split(".")[0]

    @property
    def described(self) -> str:
        """Return its kind, for a bound with its direction."""
        return f"{self.direction} {self.kind}".strip()

    @property
    def told(self) -> str:
        """Return its name for messages."""
        return self.id

    @property
    def reference(self) -> str:
        """Return the reference that a result quotes: `id@version`."""
        return f"{self.id}@{self.version}"

    @cached_property
    def sides(self) -> "tuple[Expr, Expr]":
        """Return the left and right side in SymPy, with constants as exact integers."""
        left, right = (as_expression(text(side)) for side in self.trees)
        return left, right

    @cached_property
    def expression(self) -> "Rel":
        """Return the relation in SymPy: an equality, or an inequality for the senses <= and >=."""
        return self._related(*self.sides)

    def _related(self, left: "Expr", right: "Expr") -> "Rel":
        from sympy import Eq, Ge, Le

        return {"=": Eq, "<=": Le, ">=": Ge}[self.sense](left, right, evaluate=False)

    @cached_property
    def trees(self) -> TreePair:
        """Return the left and right side as trees, with like terms added and in order."""
        return trees_of_relation(self.relation)

    def solve_for(self, unknown: str) -> "tuple[SolvedRegime, ...]":
        """Return the equation solved for one of its quantities with SymPy, in each of its regimes.

        `unknown` is the name or symbol of a quantity. Each regime has a `condition` and `solutions`: an empty tuple if the unknown drops
        out there, None if SymPy knows no closed form. `requires` is not checked: its inequalities are separate from the equation.

        >>> from derive.catalogue import equation
        >>> for one in equation("serving.plain_step_time").solve_for("kv_time"):
        ...     print(one.solutions, "where", one.regime.label)
        () where attention_time + compute_time >= kv_time + plain_weight_time
        (-overhead_time + plain_step_time - plain_weight_time,) where kv_time + plain_weight_time >= attention_time + compute_time
        """
        from derive.expressions.sympy_solver import solve_by_regime

        name = quantity(unknown).name
        if name not in self.symbols:
            raise UnknownName(f"quantity of {self.id}", unknown, self.symbols)
        return solve_by_regime(*self.trees, name)

    @property
    def latex(self) -> str:
        """Return the relation as LaTeX, in the symbols of the lecture."""
        left, right = self.trees
        return equation_in_latex(left, self.sense, right)

    def _repr_latex_(self) -> str:
        return f"${self.latex}$"

    def subs(self, **values: "float | str | Expr") -> "Rel":
        """Return the relation with numbers, texts with a unit or SymPy expressions in place of quantities, by their names or short symbols.

        Raises `UnknownName` for a name that is not one of its quantities. So a typing error is seen. Raises `WrongUnit`
        and `WrongValue` for a value that the quantity cannot have.

        >>> from derive.catalogue import equation
        >>> equation("batching.ridge_point").subs(peak_flops=989e12, W="3.35TB/s").rhs
        295.223880597015
        """
        named = {quantity(name).name: value for name, value in values.items()}
        if unknown := next((name for name in named if name not in self.symbols), None):
            raise UnknownName(f"quantity of {self.id}", unknown, self.symbols)
        put_in = {symbol(name): _replacement(name, value) for name, value in named.items()}
        left, right = (side.subs(put_in) for side in self.sides)
        return self._related(left, right)

    def left_side(self, values: Mapping[str, float]) -> float:
        """Return the left side at numbers."""
        return values[self.symbols[0]]

    def right_side(self, values: Mapping[str, Any]) -> Any:
        """Return the right side at numbers or arrays by quantity name: the relation itself, called with them. The left side is not needed.

        Numbers off its domain raise ArithmeticError.
        """
        fixed = self._fixed
        return self.relation(*[fixed[name] if name in fixed else values[name] for name in self.parameters])[1]

    @cached_property
    def _fixed(self) -> Mapping[str, float]:
        """Return the constants of the relation, and any number as its left side."""
        return {self.symbols[0]: 0.0, **{name: CONSTANTS[name].value for name in self.parameters if name in CONSTANTS}}

    def requirements(self) -> "tuple[Rel, ...]":
        """Return the inequalities that the equation needs, as SymPy relations, without those that are always true."""
        from sympy.core.relational import Relational

        return tuple(relation for one in self.requires if isinstance(relation := one.relation(), Relational))

    def applies(self, values: Mapping[str, Any]) -> bool:
        """Return whether these values violate no requirement. A requirement with unknown quantities is not checked."""
        return not self.requires or not any(self._broken(values))

    def violated(self, values: Mapping[str, Any]) -> list[str]:
        """Return the requirements that these values violate, as text."""
        return [one.text for one in self.unmet(values)]

    def unmet(self, values: Mapping[str, Any]) -> "list[Unmet]":
        """Return the violated requirements with their equation, quantities and meaning."""
        # A requirement that only defaults violate is shown as it was before the defaults were put in.
        told = ((needed, needed if needed.names else replace(needed, holds=unwrap(needed.holds))) for needed in self._broken(values))
        return [
            Unmet(text=shown.text(bool(self.put_in)), id=self.id, names=needed.names, meaning=needed.otherwise) for needed, shown in told
        ]

    def _broken(self, values: Mapping[str, Any]) -> Iterator[Requirement]:
        for needed in self.requires:
            if values.keys() >= {*needed.names} and not needed.is_met(values):
                yield needed


def _replacement(name: str, value: "float | str | Expr") -> "float | Expr":
    """Return the value that replaces a quantity in a relation. A text is parsed as a value, never as an expression. Zero is a limit."""
    from sympy import Expr

    if isinstance(value, str):
        return parse(name, value)
    if isinstance(value, Expr):
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        raise WrongValue(f"{name} = {shorten(repr(value))}: an equation accepts a number, a text or a SymPy expression")
    if value:
        quantity(name).check(float(value))
    return value


class Solvable(Protocol):
    """An equation of the catalogue, or an equation composed of several."""

    @property
    def trees(self) -> TreePair: ...
    def right_side(self, values: Mapping[str, Any]) -> Any: ...
    def __hash__(self) -> int: ...


def right_side_at(row: Solvable, values: Mapping[str, float]) -> float:
    """Return the right side at numbers, or NaN off its domain."""
    try:
        number = row.right_side(values)
    except (ArithmeticError, ValueError):
        return float("nan")
    return float("nan") if isinstance(number, complex) else float(number)
