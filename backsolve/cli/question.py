"""Questions as people type them: read them, answer them for each deployment, and draw the answers."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import click

from derive.answers import Column, Interval, Result, Series, Spread
from derive.catalogue import rules_among
from derive.errors import AmbiguousName, BacksolveError, NoRent, NotCovered, SeveralNames, WrongUnit, WrongValue
from derive.immutable import immutable
from derive.layouts import split_layout, word_beside
from derive.quantities import meant_beside, quantity, says_tensor_parallel, symbol
from derive.roles import Batch
from derive.solving.api import Given, respond, respond_all
from derive.solving.question.conventions import Switches, implied_names
from derive.solving.question.givens import list_spreads, split_money_rates
from derive.solving.question.questions import NOT_GIVEN
from derive.units import add_unit_to_value, data_type_named, named_texts, show, signed

if TYPE_CHECKING:
    from derive.show.chart import Chart


class Deployment(NamedTuple):
    """Chips and models, and the inputs that only this deployment has [SI]."""

    hardware: tuple[str, ...]
    model: tuple[str, ...]
    own: Mapping[str, float]


@immutable
class Asked:
    """A question: its unknowns, other words that were typed (by quantity), its inputs as typed and as they are solved, and its switches.

    `several` has all meanings of the word of an unknown, if it has several. `read` says how given words with several meanings are read.
    """

    unknowns: tuple[str, ...]
    several: Mapping[str, tuple[str, ...]]
    words: Mapping[str, str]
    texts: Mapping[str, str]
    given: Mapping[str, Given]
    switches: Switches
    strict: bool
    deployments: tuple[Deployment, ...]
    read: tuple[str, ...] = ()

    def switches_of(self, hardware: Sequence[str], model: Sequence[str]) -> Switches:
        """Return the switches of one deployment."""
        return replace(self.switches, hardware=hardware, model=model)


def read_question(
    unknowns: Iterable[str],
    items: tuple[str, ...],
    switches: Switches,
    strict: bool = False,
    drawn: bool = False,
    usual: Mapping[str, str] = {},
) -> Asked:
    """Return the question of unknowns and `name=value` items.

    `usual` has inputs for those that are not typed. `drawn` turns ranges into sweeps.

    >>> asked = read_question(["tpot"], ("ctx=8k",), Switches(("H100,B200:fp8",), ("DeepSeek-V3",)))
    >>> asked.unknowns, asked.texts, [one.hardware for one in asked.deployments]
    (('step_time',), {'context_length': '8k'}, [('H100:fp8',), ('B200:fp8',)])
    """
    pairs = [(name, value if sign else None) for name, sign, value in (item.partition("=") for item in items)]
    layouts, others = split_layout(pairs)
    typed_as = {word_beside(layouts, word): word for word in unknowns}
    words = [*typed_as]
    items = tuple(name if value is None else f"{name}={value}" for name, value in others)
    switches = replace(switches, conventions=replace(switches.conventions, layouts=layouts))
    beside = implied_names(switches)
    typed = split_money_rates(words, named_texts(items, asked=words, beside=beside))
    spelled = [re.split("[<>=≤≥]", one)[0].strip() for one in items]
    conventions = replace(
        switches.conventions,
        tensor_parallel=says_tensor_parallel([*words, *spelled]),
        dtype=data_type_named(spelled, typed.get("bytes_per_weight")),
    )
    switches = replace(switches, conventions=conventions)
    texts = {**usual, **typed}
    spans = list_spreads({name: text for name, text in texts.items() if not signed(text)}, switches) if drawn or switches.zipped else {}
    chips_and_models = combine_presets(tuple(switches.hardware or ()), tuple(switches.model or ()), switches.zipped)
    each = _zipped_values(spans, len(chips_and_models)) if switches.zipped and len(chips_and_models) > 1 else {}
    meant = {word: _meanings(word, (*words, *usual, *spelled, *beside), words, typed) for word in words}
    called = [(name, typed_as[word]) for word, names in meant.items() for name in names]
    for word in spelled:
        with suppress(BacksolveError):
            called.append((meant_beside(word, (*words, *spelled, *beside), words), word))
    return Asked(
        unknowns=tuple(dict.fromkeys(name for names in meant.values() for name in names)),
        several={name: names for names in meant.values() for name in names if len(names) > 1},
        words={name: word for name, word in called if word != name},
        texts=texts,
        given=drawn_inputs(texts, spans, switches.zipped) if drawn else texts,
        switches=switches,
        strict=strict,
        deployments=tuple(Deployment(*one, {name: values[at] for name, values in each.items()}) for at, one in enumerate(chips_and_models)),
    )


def read_as_meant(unknowns: Sequence[str], items: tuple[str, ...], switches: Switches, strict: bool, drawn: bool) -> Asked:
    """Return the question like `read_question`. Each given word with several meanings has the only one that leads to an answer.

    Raises AmbiguousName if several meanings lead to different answers, or none to an answer that uses all inputs.
    """
    try:
        return read_question(unknowns, items, switches, strict, drawn)
    except (AmbiguousName, SeveralNames) as error:
        from derive.solving.limits.stretches import stretches_of

        first, *others = error.each if isinstance(error, SeveralNames) else (error,)
        if not isinstance(first, AmbiguousName) or not all(isinstance(one, AmbiguousName) for one in others):
            raise
        word, found = first.word, dict[tuple[str, ...], tuple[str, Asked]]()
        for name in first.meant:
            renamed = tuple(_rename_input(item, word, name) for item in items)
            if renamed == items:
                raise
            try:
                asked = read_as_meant(unknowns, renamed, switches, strict, drawn)
                solutions = [one for column in answer_columns(asked) for one in column.solutions]
            except (AmbiguousName, SeveralNames, WrongUnit, WrongValue):
                continue
            if _is_meant(name, asked, solutions):
                ends = [f"{end:.6g}" for one in solutions for pair in stretches_of(one.answers) for end in pair]
                found.setdefault(tuple(ends), (name, asked))
        if len(found) != 1:
            raise
    ((name, asked),) = found.values()
    return replace(asked, words={**asked.words, name: word}, read=(*asked.read, f"{word} is read as {name}"))


def _is_meant(name: str, asked: Asked, solutions: Sequence[Result]) -> bool:
    """Return whether there are answers that use all inputs and do not suppose one sequence, with this input in its range in practice."""
    row = quantity(name)
    with suppress(BacksolveError):
        if not row.low <= asked.switches.conventions.read(name, asked.texts[name]) <= row.high:
            return False
    sure = (one.answers and not one.unused and one.provenance.get(Batch.name) != NOT_GIVEN for one in solutions)
    return bool(solutions) and all(sure)


def _rename_input(item: str, word: str, name: str) -> str:
    """Return a `name=value` item with another name for a word. The value keeps the unit that the word says.

    >>> _rename_input("days<=30", "days", "training_time"), _rename_input("rent=2", "days", "training_time")
    ('training_time<=30 day', 'rent=2')
    """
    spelled, sign, value = [*re.split("([<>=≤≥]+)", item, maxsplit=1), "", ""][:3]
    return f"{name}{sign}{add_unit_to_value(word, value)}" if spelled.strip() == word else item


def _meanings(word: str, others: Collection[str], asked: Collection[str], given: Collection[str]) -> tuple[str, ...]:
    """Return the quantity that an unknown means among other names, or all its meanings that are not given if they do not decide."""
    try:
        return (meant_beside(word, others, asked),)
    except AmbiguousName as error:
        return tuple(name for name in error.meant if name not in given) or error.meant


def put_symbols(asked: Asked, words: Collection[str]) -> Asked:
    """Return the question with symbols of SymPy for the inputs of these words, or for all numbers without a word."""
    spread = list_spreads({name: text for name, text in asked.texts.items() if not signed(text)}, asked.switches)
    numbers = [name for name, text in asked.texts.items() if not signed(text) and name not in spread]
    chosen = [name for name in numbers if not words or asked.words.get(name, name) in words]
    return replace(asked, given={**asked.given, **{name: symbol(name) for name in chosen}})


def combine_presets(hardware: tuple[str, ...], model: tuple[str, ...], zipped: bool) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the chips and models of each deployment: all chips with all models, or pairs if `zipped`.

    >>> combine_presets(("H100,B200:fp8",), ("Llama-3.1-70B",), False)
    [(('H100:fp8',), ('Llama-3.1-70B',)), (('B200:fp8',), ('Llama-3.1-70B',))]
    """
    lists = [_split_names(text, typed) for texts, typed in ((hardware, True), (model, False)) for text in texts]
    rows = [*product(*lists)]
    if zipped:
        longest = max(map(len, lists), default=1)
        if any(len(one) not in (1, longest) for one in lists):
            raise WrongValue("--zip needs lists of --hardware and --model of equal length")
        rows = [*zip(*(one * longest if len(one) == 1 else one for one in lists), strict=True)] or [()]
    return [(row[: len(hardware)], row[len(hardware) :]) for row in rows]


def _split_names(text: str, typed: bool) -> list[str]:
    """Return the names of a list. Chips without a data type get the data type of the last one if they support it."""
    *names, last = [name.strip() for name in text.split(",") if name.strip()] or [text]
    _, colon, dtype = last.partition(":")
    if not (names and typed and colon):
        return [*names, last]
    from derive.presets import has_data_type

    return [*(f"{name}:{dtype}" if ":" not in name and has_data_type(name, dtype) else name for name in names), last]


def _zipped_values(spans: Mapping[str, Spread], many: int) -> dict[str, tuple[float, ...]]:
    """Return the lists of inputs that are zipped with `many` deployments. Raise WrongValue for lists of another length."""
    found = {name: tuple(one.values) for name, one in spans.items() if isinstance(one, Series) and not one.count}
    for name, values in found.items():
        if len(values) != many:
            raise WrongValue(f"{name} ({len(values)}) and --hardware and --model ({many}): with --zip all lists must have the same length")
    return found


def answer_columns(asked: Asked) -> list[Column]:
    """Return each deployment with its answers, or, among several, with the reason why the tables do not cover it."""
    names = _names_apart(asked.deployments) if len(asked.deployments) > 1 else [""]
    columns = [_answer_or_reason(asked, one, name) for one, name in zip(asked.deployments, names, strict=True)]
    return _drop_unanswered(asked, columns) if asked.several else columns


def _drop_unanswered(asked: Asked, columns: Sequence[Column]) -> list[Column]:
    """Return the answers without those meanings of a word that the inputs do not determine, or that only a rule of thumb answers, if others
    have an answer or it leaves an input out. Raise AmbiguousName if the inputs determine none.
    """
    found = [(name, one) for each in columns for name, one in zip(asked.unknowns, each.solutions, strict=False) if one.answers]
    sure = {name for name, one in found if not rules_among(one.equations)}
    answered = sure | {name for name, one in found if sure.isdisjoint(asked.several.get(name, ())) and not one.unused}
    for name, meant in asked.several.items():
        if answered.isdisjoint(meant):
            asked_of = (solution for one in columns for solution in one.solutions if solution.unknown in meant and solution.given)
            nearest = min(
                (solution for solution in asked_of if solution.reason and solution.reason.missing),
                key=lambda solution: len(solution.refusal.missing),
                default=None,
            )
            raise AmbiguousName("quantity", asked.words[name], meant, f"\n{nearest.why_not}" if nearest else "")
    kept = [at for at, name in enumerate(asked.unknowns) if name in answered or name not in asked.several]
    return [replace(one, solutions=tuple(one.solutions[at] for at in kept if one.solutions)) for one in columns]


def _answer_or_reason(asked: Asked, one: Deployment, name: str) -> Column:
    """Return a deployment with its answers, or the reason if it has a name. Without a rent it has the answers that need no price."""
    switches, refused = asked.switches_of(one.hardware, one.model), ""
    ask = partial(respond_all, asked.unknowns, {**asked.given, **one.own}, strict=asked.strict)
    try:
        found = ask(switches)
    except NotCovered as error:
        if not name:
            raise
        refused = str(error)
        without = ask(replace(switches, conventions=replace(switches.conventions, price="given"))) if isinstance(error, NoRent) else ()
        found = without if any(solution.answers for solution in without) else ()
    return Column(name=name, hardware=one.hardware, model=one.model, solutions=found, refused=refused)


def _names_apart(found: Sequence[Deployment]) -> list[str]:
    """Return a name for each deployment: its differences from the others."""
    every = [(*one.hardware, *one.model) for one in found]
    shared = set(every[0]).intersection(*every)
    own = [[f"{name}={show(name, value)}" for name, value in one.own.items()] for one in found]
    return [
        " ".join((*([name for name in names if name not in shared] or names), *values)) for names, values in zip(every, own, strict=True)
    ]


def drawn_inputs(texts: Mapping[str, str], spans: Mapping[str, Spread], zipped: bool) -> dict[str, Given]:
    """Return the inputs to draw: ranges as sweeps, and sweeps of counts in whole numbers. The quantity of the x axis is last."""
    from derive.show.plot import plotted_values

    ranges = [name for name, found in spans.items() if isinstance(found, Interval)]
    series = {name: found for name, found in spans.items() if isinstance(found, Series)}
    sweeps = [name for name, found in series.items() if found.count]
    # The x axis is a sweep, else the last range, else the longest list. All others are lines.
    longest = sorted(sweeps or series, key=lambda name: len(series[name]))[-1:]
    across = [] if zipped else longest if sweeps else ranges[-1:] or longest
    lines = [name for name in ranges if name not in across]
    found = {name: plotted_values(name, one, name in lines) for name, one in spans.items()}
    ordered = [*lines, *(name for name in texts if name not in (*ranges, *across)), *across]
    return {name: found.get(name) or texts[name] for name in ordered}


def answer_charts(asked: Asked, columns: Sequence[Column]) -> "list[Chart]":
    """Return the charts to draw: the sweeps, or without a sweep the rooflines of the chips with the step of each."""
    from derive.show.plot import roof, roofline, sweep_charts

    answered = [(one, deployment) for one, deployment in zip(columns, asked.deployments, strict=True) if one.solutions]
    if not any(solution.sweep for one, _ in answered for solution in one.solutions):
        roofs = [roof(one.name, _step_numbers(asked, deployment, one.solutions)) for one, deployment in answered]
        if found := [one for one in roofs if one]:
            return [roofline(found)]
    return sweep_charts([(one.name, one.solutions) for one, _ in answered])


def _step_numbers(asked: Asked, deployment: Deployment, solutions: Sequence[Result]) -> dict[str, float]:
    """Return the known numbers of a step: the answers, and the times that follow from them."""
    from derive.show.plot import STEPS, known_numbers

    known: dict[str, float] = {}
    for solution in solutions:
        known |= known_numbers(solution)
    answered = next((one for one in solutions if one.answers), None)
    for name in STEPS if answered else ():
        with suppress(BacksolveError):
            if answered and name not in known:
                given = {**asked.given, **deployment.own, answered.unknown: answered.answers[0].point}
                known |= known_numbers(respond(name, given, asked.switches_of(deployment.hardware, deployment.model)))
    return known


def draw_into(place: str, charts: "Sequence[Chart]", columns: Sequence[Column], texts: Mapping[str, str]) -> None:
    """Draw charts of answers with their caption into a file, or without it as text."""
    from backsolve.figures.picture import draw_picture
    from derive.show.plot import caption, draw_in_terminal

    if place == "-":
        click.echo("\n".join(draw_in_terminal(charts)) + "\n")
        return
    limits = {name: signed(text) for name, text in texts.items()}
    said = caption([((*one.hardware, *one.model), one.solutions) for one in columns if one.solutions], limits)
    draw_picture(place, [replace(charts[0], said=(*said, *charts[0].said)), *charts[1:]])
