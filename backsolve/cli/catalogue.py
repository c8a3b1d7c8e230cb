"""The commands for the catalogue: list, show, explain, cite."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from backsolve.cli import options
from backsolve.cli.options import completes, names_of
from backsolve.streams import fail_on, in_terminal, report_problems, tell, tell_doubts, tell_line, tell_rows
from derive import presets
from derive.catalogue import CHAPTERS, by_id, equation, equations
from derive.catalogue.searching import corrected, equations_about, equations_at, is_time, is_word, mentions, quantities_about
from derive.errors import AmbiguousName, BacksolveError, NotCovered, UnknownName, WrongData, WrongValue, shorten
from derive.files import LARGEST_RESULT, called, json_of
from derive.glossary import INSTEAD, explain_term
from derive.preset_rows import AcceleratorFigure, Architecture
from derive.quantities import QUANTITIES, Quantity
from derive.quantities.aliases import ALIASES
from derive.records import Equation
from derive.show import presets as shown
from derive.show.entry import card, data_type_lines, derivation_in_latex, entry_as_json, list_as_json, quantity_lines, reason_not_derived
from derive.show.references import Reference, cite_with_references
from derive.tables.shipped import read, rows_of
from derive.tier_presets import tier_lines
from invert.data import read_data
from invert.validation.claim_rows import Claim

if TYPE_CHECKING:
    from invert.sheets.rows import FileText

_LACKING = {"derivation": "steps", "source": "sources"}
"""The field that is empty in an equation without one."""


@click.command("list", cls=options.Command)
@options.words("[WORD]...")
@click.option("--at", "time", metavar="TIME", help="Only equations from this time of the lecture, 0:19 or 0:19:30.")
@click.option("--chapter", metavar="C", help="Only the equations of a chapter.")
@click.option("--symbol", metavar="X", help="Only the equations that contain a quantity.")
@click.option("--without", type=click.Choice(_LACKING), help="Only the equations that have none.")
@click.option("--quantities", is_flag=True, help="The quantities, their symbols and units.")
@click.option("--hardware", is_flag=True, help="The accelerators that --hardware knows.")
@click.option("--models", is_flag=True, help="The models that --model knows.")
@options.form("text", "json", help="Form of the list.")
def list_command(
    words: str, time: str | None, chapter: str | None, symbol: str | None, without: str | None, quantities: bool,
    hardware: bool, models: bool, style: str,
) -> None:  # fmt: skip
    """List the equations of the catalogue, the quantities or the presets: all, or only the ones about a WORD.

    Example:

    \b
    backsolve list kv
    backsolve list --at 0:19
    backsolve list --hardware --models
    """
    word, time = ("", words) if time is None and is_time(words) else (words, time)
    if hardware or models:
        _list_presets(hardware, models, word, style)
        return
    if word and not equations_about(word):
        word = corrected(word, (row.claim for row in rows_of(Claim)))
    rows = equations_about(word, equations(chapter, symbol)) if word else [*equations(chapter, symbol)]
    at_time = rows if time is None else equations_at(time)
    rows = [row for row in rows if row in at_time and not (without and getattr(row, _LACKING[without]))]
    about = word if time is None else ""
    found = quantities_about(word) if word else [*QUANTITIES.values()]
    if style == "json":
        tell(list_as_json(quantities=found) if quantities else list_as_json(rows, found if about else None), style)
        return
    if quantities or about:
        _tell_quantities(found)
    if quantities:
        return
    presets = [*shown.listing_commands(about), *tier_lines(about)] if about else []
    for line in presets:
        tell_line(line)
    nothing = not (rows or presets or (word and found))
    claims = [row for row in rows_of(Claim) if mentions(about, f"{row.claim} {row.reason}")] if nothing and about else []
    tell_rows((f"claim {row.id}", row.verdict, row.claim) for row in claims)
    if nothing and not claims:
        which = shorten(word) if word else "all of these options"
        raise NotCovered(f"no equation matches {which}. Claims of the lecture: backsolve claims WORD")
    _tell_equations(rows, why_not_derived=without == "derivation")
    if rows and in_terminal():
        tell("Words: explain WORD.")


def _tell_equations(rows: Iterable[Equation], why_not_derived: bool = False) -> None:
    reasons = ((row, f"   ({reason_not_derived(row)})" if why_not_derived else "") for row in rows)
    tell_rows((row.id, row.described, f"{row.title}{reason}") for row, reason in reasons)


def _tell_quantities(rows: Iterable[Quantity]) -> None:
    tell_rows((one.name, one.symbol, f"[{one.unit}]", one.meaning) for one in rows)


def _list_presets(hardware: bool, models: bool, word: str, style: str) -> None:
    chips, known = shown.hardware_records(word) if hardware else None, shown.model_records(word) if models else None
    if style == "json":
        tell(list_as_json(hardware=chips, models=known), style)
    elif not (chips or known):
        kind = "model" if models else "accelerator"
        raise UnknownName(kind, word, names_of("models" if models else "chips"), "backsolve list --models --hardware shows all")
    else:
        tables = [*([shown.hardware_lines(word)] if hardware else []), *([shown.model_lines(word)] if models else [])]
        tell("\n\n".join("\n".join(lines) for lines in tables))


@click.command("show", cls=options.Command, no_args_is_help=True)
@options.words("ID|WORD...", "equations", "quantities", "models", "chips", required=True)
@options.form("text", "latex", "json", help="Form of an equation and its derivation.")
def show_command(words: str, style: str) -> None:
    """Show an equation with its derivation, a quantity, a model, a chip (NAME or NAME:DTYPE), or everything about a WORD.

    Several names are shown one after the other.

    Example:

    \b
    backsolve show batching.balance_batch
    backsolve show kv_bytes_per_token
    backsolve show DeepSeek-V3
    backsolve show H100-SXM:fp8
    """
    words = INSTEAD.get(words.lower(), words)
    if words.partition("@")[0] in by_id():
        tell({"text": card, "latex": derivation_in_latex, "json": entry_as_json}[style](equation(words)), style)
        return
    if style != "text":
        if "." in words:
            equation(words)
        form = {"latex": "LaTeX", "json": "JSON"}[style]
        raise WrongValue(
            f"{shorten(words)} is not an id of an equation, and only equations have the form {form}: backsolve list shows the ids"
        )
    _show_word(words)


@click.command("explain", cls=options.Command, no_args_is_help=True)
@options.words("WORD...", "words", required=True)
def explain_command(words: str) -> None:
    """Explain a word of the outputs, a column of the price tables, or a quantity.

    Example:

    \b
    backsolve explain right before
    backsolve explain KV from premium
    """
    _show_word(INSTEAD.get(words.lower(), words))


def _show_word(word: str) -> None:
    """Show the entry with this name, or the entries of several names. Otherwise list quantities and equations about the word."""
    lines, reason = _entry_lines(word)
    parts = word.split()
    if not (lines or reason) and parts[1:] and all(each := [_entry_lines(part)[0] for part in parts]):
        lines = [line for one in each for line in (*one, "")]
    for line in lines:
        tell(line)
    if lines:
        return
    if isinstance(reason, WrongData):
        raise reason
    if "." in word:
        # No equation has this id. The error names similar ids.
        equation(word)
    # The reason may be a row that cannot be read.
    bad = report_problems(read().problems(Architecture, AcceleratorFigure))
    quantities, rows = ((), ()) if bad else _about(word)
    if not (quantities or rows):
        raise reason or _unknown_word(word)
    _tell_quantities(quantities)
    _tell_equations(rows)


def _entry_lines(word: str) -> tuple[list[str], BacksolveError | None]:
    """Return the entry with this name: a term, a chip, a model, a quantity or a column. Without one, return the reason if there is one."""
    reason: BacksolveError | None = None
    for lines_of in (
        _term_lines,
        lambda name: [] if ":" in name else shown.chip_lines(presets.chip_name(name)),
        _model_lines,
        lambda name: shown.preset_lines(presets.hardware(name)),
        quantity_lines,
        _column_lines,
        tier_lines,
        data_type_lines,
        _sheet_lines,
        lambda name: [card(equation(name))] if "." in name else [],
    ):
        try:
            if lines := lines_of(word):
                return lines, None
        except UnknownName:
            continue
        except (AmbiguousName, WrongData) as error:
            # Another table may have the name.
            reason = reason or error
    return [], reason


def _unknown_word(word: str) -> UnknownName:
    """Return the error for a word that no table has, with the nearest names."""
    from invert.report.columns import REGISTRY

    names = [name for kind in ("words", "equations", "quantities", "models", "chips") for name in names_of(kind)]
    headings = (one.heading for one in REGISTRY.values())
    return UnknownName("word, equation, quantity, model or chip", word, [*names, *ALIASES, *headings], "backsolve list shows them")


def _term_lines(word: str) -> list[str]:
    """Return the meaning of a word of the outputs, and the command that lists quantities and equations about it."""
    if not (meaning := explain_term(word)):
        return []
    quantities, rows = _about(word)
    more = f"Related quantities: {len(quantities)}, equations: {len(rows)}. List: backsolve list {word}"
    return [meaning, *([more] if quantities or rows else [])]


def _model_lines(name: str) -> list[str]:
    try:
        return shown.preset_lines(presets.model(name))
    except NotCovered:
        tell("\n".join(shown.model_card(presets.model_name(name))))
        raise


def _column_lines(name: str) -> list[str]:
    """Return the meaning of a column of the price tables."""
    from invert.report.columns import column_of

    return [column_of(name).explained]


def _sheet_lines(name: str) -> list[str]:
    """Return the command that shows the price sheet of this name."""
    sheets = {one.rpartition("/")[2] for one in names_of("sheets")}
    return [f"{name} is a price sheet: backsolve infer {name}"] if any(f"{one}-".startswith(f"{name}-") for one in sheets) else []


def _about(word: str) -> tuple[Sequence[Quantity], Sequence[Equation]]:
    """Return the quantities and equations about a text, or none if a word of it is not a part of any name or id."""
    return (quantities_about(word), equations_about(word)) if is_word(word) else ((), ())


@click.command("cite", cls=options.Command)
@click.argument("ids", nargs=-1, metavar="[ID|MODEL[#PRICE]]...", shell_complete=completes("equations", "sheets"))
@options.form("plain", "bibtex", "csl-json", "latex", "myst", "markdown", help="Form of the citation.")
@click.option("--used-by", metavar="RESULT.json", help="Cite all sources of a saved result, each with its reason. - is standard input.")
@options.html_base
@click.option(
    "--reading", type=click.Choice(("kv", "fraction", "tier")), help="Cite a reading of MODEL with its prices, equation and record."
)
@click.option("--macros", is_flag=True, help="In LaTeX, write a \\newcommand for every symbol, to change the notation in one place.")
@options.tier
@options.as_of
@options.prices
def cite_command(
    ids: tuple[str, ...], style: str, used_by: str | None, html_base: str, macros: bool, reading: str | None, **asked: Any
) -> None:
    """Cite equations, price sheets, single prices, a reading of a sheet, or all sources of a saved result.

    Example:

    \b
    backsolve cite roofline.step_time --as bibtex
    backsolve cite gemini-3.1-pro
    backsolve cite gemini-3.1-pro#output@200k
    backsolve cite gemini-3.1-pro --reading kv --as markdown
    backsolve cite --used-by result.json
    """
    if reading is not None:
        if used_by is not None:
            raise WrongValue("--reading and --used-by do not go together")
        _cite_readings(ids, reading, style, asked, html_base, macros)
        return
    # Models are written with a slash or a hyphen, and ids begin with their chapter.
    sheets = [id for id in ids if "/" in id or ("-" in id and id.partition(".")[0] not in CHAPTERS)]
    equations = [id for id in ids if id not in sheets]
    found = _cite_prices(sheets, html_base, **asked) if sheets else []
    why: dict[str, str] = {}
    if used_by is not None:
        from invert.report.cited import references_in, uses_in

        result = json_of(used_by, LARGEST_RESULT)
        try:
            why = uses_in(result)
            equations, found = [*equations, *why], [*found, *references_in(result, html_base)]
        except WrongData as error:
            raise WrongData(f"{called(used_by)}: {error}") from None
    if not equations and not found:
        raise WrongValue("no id to cite: name an equation's id (backsolve list), a price sheet, or a saved result with --used-by")
    tell(cite_with_references(equations, found, style, html_base, macros, why), style)


def _cite_readings(models: tuple[str, ...], reading: str, style: str, asked: dict[str, Any], html_base: str, macros: bool) -> None:
    """Print a reading of each sheet with all its sources."""
    from invert.inference import infer
    from invert.report.cited import cite_reading

    if not models or any("#" in name for name in models):
        raise WrongValue(f"--reading {reading} needs a MODEL, as gemini-3.1-pro")
    table = infer(models, **asked)
    tell("\n\n".join(cite_reading(one, table, reading, style, html_base, macros) for one in table), style)
    tell_doubts(table.doubts, asked["prices"])
    fail_on(table.problems)


def _cite_prices(names: Iterable[str], html_base: str, tier: str | None, as_of: date | None, prices: "FileText | None") -> list[Reference]:
    """Return references for price sheets or single prices."""
    from invert.report.price_pages import references_of
    from invert.sheets.doubts import doubts_about
    from invert.sheets.read import book_of

    data = read_data()
    book = book_of(data, prices)
    found, keys = references_of(names, data, book, tier or "", as_of, html_base)
    tell_doubts(doubts_about(keys, book), prices)
    return found
