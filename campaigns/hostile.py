"""Inputs nobody would type, by the hundred thousand: each is read, or refused by one of our own errors, at once and in little memory.

    python -m campaigns.hostile --count 100000 --seed 1
    python -m campaigns.hostile prices --count 20000 --seed 1
    python -m campaigns.hostile prices --seed 1 --only 4711

Exit status 1 if anything else comes of one: another exception or a warning, a row of a file that is neither read nor named, a
message that would move the cursor, more than 2 s of processor time or 1 GiB of memory. Every input has a random source of its
own, by seed, kind and number, so that `--only` tries one again.
"""

import argparse
import json
import resource
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from io import BytesIO
from math import isfinite
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic, process_time
from traceback import extract_tb
from types import FrameType

import click

from backsolve.cli.main import backsolve
from backsolve.cli.options import LONGEST_WORD, day, pairs
from backsolve.cli.question import combine_presets
from derive import presets
from derive.catalogue import by_id, equation
from derive.catalogue.searching import equations_about, equations_at
from derive.errors import BacksolveError
from derive.quantities import NAME_OF_SYMBOL, QUANTITIES, quantity
from derive.solving.question.conventions import Conventions
from derive.solving.question.givens import spread
from derive.units import DATA_TYPES, named_texts, parse, show, signed
from invert.assumptions import FACTS
from invert.databases.pull import listings, pull
from invert.sheets.add import add_to_file
from invert.sheets.assemble import find, models, sheets
from invert.sheets.read import PROBLEM_LIMIT, book_of, prices_that_ship, read_rows
from invert.sheets.rows import OWN_COLUMNS, PriceBook, PriceRow
from invert.sheets.rules import check
from invert.sheets.sheet import typed_place
from tests.tools.data import shipped_data
from tests.tools.databases import LITELLM, MODELS_DEV, OPENROUTER

SLOW, HANGS, MEMORY = 2.0, 20.0, 1024**3
"""Seconds of the processor that an input may take, seconds after which it is given up, and bytes of memory for all of them."""

TODAY = date(2026, 11, 22)

# Texts.

FIGURES = (
    "0", "-0", "1", "-1", "8", "2400", "0.4", ".5", "5.", "1e3", "1e-400", "1e400", "1e99999999999", "9" * 190, "1_000", "1__0", "1,000",
    "12,500", "0x10", "nan", "inf", "-inf", "1e", "e5", "\u0663", "\uff11", "\u00bd", "1\u00b2", "--1", "+1", "\u22121", "1/0", "9^9^9",
    "10**10**10",
)  # fmt: skip
UNITS = (
    "k", "K", "M", "G", "T", "P", "B", "Ki", "Gi", "kB", "GB", "GiB", "TB/s", "Gb/s", "TFLOP/s", "FLOPS", "tokens", "tok/s", "/MTok",
    "USD/h", "$", "ms", "us", "\u00b5s", "\u03bcs", "s", "min", "h", "d", "m", "%", " per million tokens", "/GPU-h", "W", "kWh", "/token",
    "/s/s", "/" * 9, "USD", "x",
)  # fmt: skip
JOINS = (
    "..", "...", "\u2026", "\u00b1", "+/-", "+-", "-", "\u2013", ",", ";", ":", ":log", ":lin:", ":log:13", ":log:1e9", "<=", ">=",
    "\u2264", "<", "=", "@", "*", "?", "[",
)  # fmt: skip
ODD = (
    "", " ", "\t", "\n", "\r", "\r\n", "\0", "\x1b[2J", "\x7f", "\u00a0", "\u200b", "\u202e", "\u2028", "\ufeff", "\u0301", "\ud800",
    "\U000e0041", "\U0001f600", "\u0130", "\u1e9e", "'", '"', '"""', "\\", "`", "$(id)", "{0.__class__}", "%n", "%s", "__import__('os')",
    "../../etc/passwd", "=1+1", "a" * 300, "(" * 200,
)  # fmt: skip
WORDS = (*QUANTITIES, *NAME_OF_SYMBOL, *by_id(), *presets.hardware_names(), *presets.model_names(), *DATA_TYPES, *FACTS)
NAMES = (
    "google/gemini-3.1-pro-preview", "gemini-3.1-pro", "gpt-5", "claude", "anthropic", "deepseek/deepseek-chat", "0:19", "1:02:03",
    "2026-11-20",
)  # fmt: skip
TYPED = (
    "3.35TB/s", "200k", "$12/MTok", "2 USD/h", "40%", "5min", "80B..120B", "0.4\u00b10.1", "1,8,64", "1..4096:log:13", "<=30ms",
    "400 Gbit/s", "fp8", "input@200k=4", "cache_write:5min=x1.5", "output=+10%", "roofline.step_time@3", "H100-SXM:fp8", "batch=128;256",
    "10ms<=t<=30ms",
)  # fmt: skip


def edited(random: Random, text: str, marks: str) -> str:
    """A text with a few of its marks left out, doubled, moved or made another."""
    for _ in range(random.choice((1, 1, 2))):
        place = random.randrange(len(text) + 1)
        kept = random.choice((0, 0, 1, 1, random.randrange(1 + len(text))))
        text = text[:place] + random.choice(("", random.choice(marks), text[place : place + 3])) + text[place + kept :]
    return text


ALPHABET = "0123456789.,;:/%$+-_=<>@*? eEkKMGTPBbsmhdxgpu\t\n\0\"'\u00a0\u200b\u00b1\u2026\u2212\u0430\u0661\ufeff\u202e\ud83d"


def text_of(random: Random) -> str:
    """Anything between what a person types and what nobody could."""
    kind = random.random()
    if kind < 0.35:
        return edited(random, random.choice(TYPED + NAMES), ALPHABET)
    if kind < 0.5:
        return edited(random, random.choice(WORDS), ALPHABET)
    if kind < 0.9:
        pieces = random.choice((FIGURES, UNITS, JOINS, ODD, FIGURES + UNITS + JOINS, WORDS))
        return "".join(random.choice(random.choice((pieces, FIGURES, UNITS, JOINS, ODD))) for _ in range(random.randint(1, 5)))
    if kind < 0.99:
        return "".join(chr(random.randrange(random.choice((0x80, 0x800, 0x3000, 0x110000)))) for _ in range(random.randint(1, 12)))
    return random.choice(FIGURES + JOINS + ODD + UNITS) * random.choice((50, 1000, 30_000))


def _value_of(random: Random, name: str) -> str:
    """A text for a quantity: as people write it, with a slip or two, of any figure and any unit, or anything."""
    kind = random.random()
    if kind < 0.6 and name in QUANTITIES:
        row = QUANTITIES[name]
        text = show(name, row.low + (row.high - row.low) * random.random() ** 9)
        return text if kind < 0.2 else edited(random, text, ALPHABET)
    return random.choice(FIGURES) + random.choice(("", " ")) + random.choice(UNITS) if kind < 0.8 else text_of(random)


def _item(random: Random) -> str:
    """A given of `solve`: more often than not of a quantity that there is, a value, a range, a list, a sweep or a limit."""
    name = random.choice(tuple(QUANTITIES)) if random.random() < 0.9 else text_of(random)
    values = [_value_of(random, name) for _ in range(random.choice((1, 1, 2, 2, 3)))]
    sign = random.choice(("=", "=", "=", "=", "=", "<=", ">", "", " = "))
    return (
        name
        + sign
        + random.choice(("..", ";", ",", "\u00b1")).join(values)
        + random.choice(("", "", "", ":log:5", ":lin:1e3", random.choice(JOINS)))
    )


# What each kind of input is, and what is done with it.


def units(random: Random) -> str:
    """A text for a quantity."""
    name = random.choice(tuple(QUANTITIES)) if random.random() < 0.95 else text_of(random)
    value = parse(name, _value_of(random, name), random.random() < 0.1)
    assert isfinite(value) and parse(name, show(name, value, 15)) is not None
    return "read"


def arguments(random: Random) -> str:
    """A command line as far as it is read before anything is calculated: options by click, givens, lists and limits by ours."""
    items = [_item(random) for _ in range(random.randint(1, 3))]
    kind = random.random()
    if kind < 0.3:
        return _parsed_by_click(random, items)
    if kind < 0.4:
        chips, shown = ([text_of(random) for _ in range(random.randint(0, 2))] for _ in range(2))
        combine_presets(tuple(chips), tuple(shown), random.random() < 0.3)
        pairs("--set", tuple(items))
        return "read"
    count, counted_in = (usual if random.random() < 0.98 else text_of(random) for usual in ("mac", "binary"))
    conventions = Conventions(count=count, bytes=counted_in)
    texts = named_texts(items, FACTS if kind < 0.45 else ())
    for name, text in texts.items():
        for one in (limit.lstrip("<>=") for limit in signed(text) or (text,)):
            if spread(name, one, conventions.read) is None:
                conventions.read(name, one)
    return "read"


def _parsed_by_click(random: Random, items: list[str]) -> str:
    command: click.Command = backsolve
    words: list[str] = []
    while isinstance(command, click.Group):
        words.append(random.choice(tuple(command.commands)))
        command = command.commands[words[-1]]
    options = [name for one in command.params if isinstance(one, click.Option) for name in one.opts if name != "--prices"]
    typed = [word for _ in range(random.randint(0, 2) if options else 0) for word in (random.choice(options), text_of(random))]
    command.make_context(words[-1], [*items, *typed], parent=click.Context(backsolve, **backsolve.context_settings))
    return "read"


def names(random: Random) -> str:
    """A name of a quantity, an equation, a chip, a model, a priced model, a day, a time of a talk or a price of a sheet."""
    text = text_of(random) if random.random() < 0.5 else edited(random, random.choice(WORDS + NAMES), ALPHABET)
    data = shipped_data()
    book = book_of(data)
    asked: Callable[[], object] = random.choice((
        lambda: quantity(text), lambda: equation(text), lambda: equations_about(text[:LONGEST_WORD]), lambda: equations_at(text),
        lambda: presets.hardware(text), lambda: presets.model(text), lambda: presets.rent(text),
        lambda: find([text], sheets(book), models(data), book, book.newest_retrieved), lambda: day(text), lambda: typed_place(text),
    ))  # fmt: skip
    asked()
    return "read"


COLUMNS = (
    "provider", "model", "component", "threshold_tokens", "amount", "currency", "effective_date", "valid_to", "retrieved_date", "notes",
)  # fmt: skip
CELLS = (
    "", "0", "-0", "1", "3.5", "1e-7", "1e-400", "1e400", "=1", "true", "TRUE", "input", "output", "cache_read", "cache_storage", "CNY",
    "EUR", "mtok_hour", "200k", "2026-11-20", "2062-11-20", "9999-12-31", "0001-01-01", "2026-02-30", "standard", "batch", "00-08", "Mon",
    "database 1", "\u00a0x", "a,b", 'a"b', '"', "a\nb",
)  # fmt: skip


def _price_file(random: Random) -> bytes:
    """A file of prices as somebody writes one, with slips in cells, in lines, in the header and in its bytes."""
    header = list(COLUMNS if random.random() < 0.8 else random.sample(OWN_COLUMNS, random.randint(16, len(OWN_COLUMNS))))
    sold = random.choice((("acme", "m"), ("google", "gemini-3.1-pro-preview"), ("alibaba", "qwen3-coder-plus")))
    usual = {"provider": sold[0], "model": sold[1], "service_tier": "standard", "retrieved_date": "2026-11-20"}
    rows = [header]
    for band in range(random.choice((1, 1, 2, 3, 70))):
        for component, amount in (("input", 1), ("output", 4), ("cache_read", 0.1))[: random.choice((2, 2, 2, 3, 3, 3, 1))]:
            known = usual | {"component": component, "threshold_tokens": str(1000 * band), "amount": str(amount + band)}
            rows.append([known.get(name, "") for name in header])
    for _ in range(random.choice((0, 0, 0, 1, 1, 1, 2, 3, 8))):
        row = random.choice(rows[1:] if random.random() < 0.95 else rows)
        place = random.randrange(len(row))
        row[place] = random.choice((random.choice(CELLS), text_of(random), edited(random, row[place], ALPHABET)))
    if random.random() < 0.2:
        rows.insert(random.choice((len(rows), 1, 0)), list(random.choice(rows)))
    if random.random() < 0.02:
        rows[-1][-1] = "x" * random.choice((9_999, 10_001, 63_000, 65_000, 200_000))
    if random.random() < 0.001:
        rows += rows[1:] * (5_000 // len(rows))
    quoted = random.random() < 0.8
    lines = [",".join('"' + cell.replace('"', '""') + '"' if quoted and {*cell} & {*',"'} else cell for cell in row) for row in rows]
    content = random.choice((*["\n"] * 8, "\r\n", "\r\n", "\n\n", "\r")).join([*lines, ""]).encode("utf-8", "surrogatepass")
    if random.random() < 0.1:
        place = random.randrange(len(content) + 1)
        content = (
            content[:place]
            + random.choice((b"", b"\0", b"\xff", b'"', b"\n", b",", random.randbytes(3)))
            + content[place + random.randint(0, 3) :]
        )
    if random.random() < 0.03:
        content = random.choice(
            (b"\xef\xbb\xbf" + content, content.decode(errors="replace").encode("utf-16"), content[: random.randrange(len(content) + 1)])
        )
    return content


def prices(random: Random) -> str:
    """A file of prices: every row is read or named, and what is read can be put together into sheets."""
    content = _price_file(random)
    fx, shipped = prices_that_ship(shipped_data())
    beside = shipped if random.random() < 0.02 else random.sample(shipped, 20)
    rows, problems = read_rows(BytesIO(content), "fuzz.csv", fx, True, beside)
    read = {int(row.origin.rpartition(":")[2]) for row in rows}
    named = {problem.row for problem in problems}
    lines = content.split(b"\n")
    header = next(place for place, line in enumerate(lines, start=1) if line.removeprefix(b"\xef\xbb\xbf").strip(b' ,"\t\r'))
    held = {place for place, line in enumerate(lines, start=1) if place > header and line.decode(errors="replace").strip(' ,"\t\r\u00a0')}
    assert len(problems) > PROBLEM_LIMIT or held <= read | named or not _has_a_cell(lines, held - read - named), (
        "a row is neither read nor named"
    )
    assert not read & named, "a row is read and named"
    book = PriceBook(rows=tuple(rows), fx=fx, newest_retrieved=TODAY)
    faults = [*problems, *check(book)]
    assert all(str(fault).isprintable() for fault in faults), "a fault that does not print"
    return "named" if faults else "read"


def _has_a_cell(lines: list[bytes], places: set[int]) -> bool:
    """Whether one of these lines holds anything but white space of whatever script."""
    return any(lines[place - 1].decode(errors="replace").replace('"', "").replace(",", "").strip() for place in places)


def written(random: Random) -> str:
    """A sheet added to a file: what was there stays, what was asked for is there, and a refusal changes no byte."""
    data = shipped_data()
    fx, shipped = prices_that_ship(data)
    items = {"input": "2", "output": "10"} if random.random() < 0.9 else {}
    for _ in range(random.randint(0, 3)):
        name = random.choice(
            (
                "input@200k",
                "output@200k",
                "cache_read",
                "cache_write:5min",
                "max_context",
                "notes",
                "currency",
                "release_date",
                text_of(random),
            )
        )
        items[name] = random.choice((random.choice(FIGURES), random.choice(CELLS), text_of(random), "2", "2", "2"))
    before = b"" if random.random() < 0.1 else _price_file(random)
    with TemporaryDirectory() as folder:
        place = Path(folder, "mine.csv")
        place.write_bytes(before)
        try:
            added = add_to_file(random.choice(("acme/perm", "acme/m", text_of(random))), items, data, str(place))
        except BacksolveError:
            assert place.read_bytes() == before, "a refusal that writes"
            raise
        finally:
            assert [one.name for one in Path(folder).iterdir()] == ["mine.csv"], "litter"
        old = _meant(read_rows(BytesIO(before), "", fx, True, shipped)[0]) if before.strip() else []
        after = _meant(read_rows(BytesIO(place.read_bytes()), "", fx, True, shipped)[0])
        assert after[: len(old)] == old and len(after) == len(old) + len(added.rows), "a row is lost or another"
    return "written"


def _meant(rows: list[PriceRow]) -> list[tuple[object, ...]]:
    return [(*row.key, row.amount, row.currency, row.valid_to, row.notes) for row in rows]


LISTS = tuple(map(json.dumps, (LITELLM, MODELS_DEV, OPENROUTER)))
VALUES = (
    "null", "true", "-1", "1e400", "1" + "0" * 5000, "NaN", '""', '"x"', '"=1"', '"\\u202e"', '"\\ud800"', "[]", "{}", "[[]]", '{"a":{}}',
    "3.5", '"1e-400"',
)  # fmt: skip


def databases(random: Random) -> str:
    """A file of a database with values that are others, and now and then bytes that are."""
    content = json.loads(random.choice(LISTS))
    for _ in range(random.randint(1, 3)):
        holders = list(_holders(content))
        holder, name = random.choice(holders)
        other = random.choice((*VALUES, json.dumps(text_of(random))))
        holder[name] = json.loads(other) if len(other) < 4000 else 10**4000  # type: ignore[index]
    text = json.dumps(content)
    text = edited(random, text, ALPHABET) if random.random() < 0.1 else text
    data = shipped_data()
    with TemporaryDirectory() as folder:
        place = Path(folder, "api.json")
        place.write_bytes(text.encode("utf-8", "surrogatepass"))
        found, problems = listings([str(place)])
        pulled = pull(found, book_of(data), models(data), TODAY)
    for problem in (*problems, *pulled.problems):
        assert str(problem).isprintable(), f"a problem that does not print: {str(problem)!r}"
    return "named" if problems or pulled.problems else "read"


def _holders(value: object) -> Iterator[tuple[object, object]]:
    """Every place in a JSON value that holds another."""
    for name, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield value, name
        yield from _holders(one)


KINDS: dict[str, tuple[Callable[[Random], str], int]] = {
    "units": (units, 45), "arguments": (arguments, 25), "prices": (prices, 20), "names": (names, 8), "written": (written, 1),
    "databases": (databases, 1),
}  # fmt: skip
"""What is tried, and how many in a hundred of it."""


def ended(kind: str, seed: int, number: int) -> str:
    """How one input ended: read, named or written; refused; or something else."""
    random = Random(f"{seed} {kind} {number}")
    start = process_time()
    try:
        with given_up():
            end = KINDS[kind][0](random)
    except BacksolveError as error:
        end = "refused" if _fits_a_line(str(error)) else f"wrong: a message that does not print: {str(error)[:120]!r}"
    except click.exceptions.Exit:
        end = "help"
    except click.ClickException:
        end = "refused"
    except Exception as fault:  # anything else is what is looked for
        where = extract_tb(fault.__traceback__)[-1]
        end = f"wrong: {type(fault).__name__} {Path(where.filename).name}:{where.lineno} {str(fault)[:120]!r}"
    spent = process_time() - start
    return f"wrong: slow, {spent:.1f} s" if spent > SLOW else end


def _fits_a_line(message: str) -> bool:
    """Whether it is short and holds nothing that does not print, but for white space."""
    return 0 < len(message) < 2000 and "".join(message.split()).isprintable()


@contextmanager
def given_up() -> Iterator[None]:
    """What takes too long is ended."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"more than {HANGS:g} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, HANGS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def campaign(kinds: tuple[str, ...], count: int, seed: int) -> Counter[str]:
    """So many inputs of these kinds, by how they ended."""
    found: Counter[str] = Counter()
    share = sum(KINDS[kind][1] for kind in kinds)
    for kind in kinds:
        for number in range(count * KINDS[kind][1] // share):
            end = ended(kind, seed, number)
            found[f"{kind} {end.partition(':')[0]}"] += 1
            if end.startswith("wrong"):
                print(f"{kind} {number}: {end}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", nargs="?", choices=(*KINDS, "all"), default="all")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, metavar="NUMBER")
    asked = parser.parse_args()
    kinds = tuple(KINDS) if asked.kind == "all" else (asked.kind,)
    warnings.simplefilter("error")
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    if asked.only is not None:
        print(*(f"{kind} {asked.only}: {ended(kind, asked.seed, asked.only)}" for kind in kinds), sep="\n")
        return
    start = monotonic()
    found = campaign(kinds, asked.count, asked.seed)
    speed, memory = found.total() / (monotonic() - start), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print({"seed": asked.seed, "count": found.total(), "a second": round(speed), "MiB": memory, **dict(sorted(found.items()))})
    sys.exit(any(end.endswith("wrong") for end in found))


if __name__ == "__main__":
    main()
