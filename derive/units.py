"""Read typed values ("3.35TB/s", "2 USD/h", "200k") into SI, and print SI values in units that people use."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from decimal import Decimal
from functools import cache, lru_cache
from math import isfinite, sqrt
from numbers import Real
from sys import float_info
from typing import Any

from derive.errors import UnknownName, WrongUnit, WrongValue, hidden, mark_in_words, shorten, suggest
from derive.quantities import NAME_OF_SYMBOL, QUANTITIES, Quantity, data_types, meant_beside, own_unit, quantity, refuse_unnamed
from derive.quantities.aliases import IN_A_TYPE, OF_A_TOKEN, OF_WEIGHTS_AND_ARITHMETIC, SAYS_AT_MOST, SEVERAL, in_full

_BASES = ("s", "byte", "FLOP", "token", "USD", "J")
SIZES = ("byte", "byte/token")
LONGEST = 200

_Dimension = tuple[int, ...]
"""The exponents of a unit over `_BASES`."""


class _Unreadable(Exception):
    """The reason that a text cannot be read. `parse` adds the quantity, the text and an example."""


# -- the words ------------------------------------------------------------------------------------------------------

_SI = {"k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
_SUFFIXES = {name: Decimal(size) for name, size in (_SI | _BINARY | {"B": 10**9}).items()}
_TIMES = {
    **{"ns": "1e-9", "us": "1e-6", "µs": "1e-6", "μs": "1e-6", "ms": "1e-3"},
    **dict.fromkeys(("usec", "microsecond", "microseconds"), "1e-6"),
    **dict.fromkeys(("msec", "millisecond", "milliseconds"), "1e-3"),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "1"),
    **dict.fromkeys(("min", "minute", "minutes"), "60"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "3600"),
    **{"kh": "3.6e6", "Mh": "3.6e9"},
    **{"d": "86400", "day": "86400", "days": "86400"},
    **dict.fromkeys(("wk", "week", "weeks"), "604800"),
    **dict.fromkeys(("mo", "month", "months"), "2629800"),
    **dict.fromkeys(("y", "yr", "year", "years"), "31557600"),
}


def _dimension(**exponents: int) -> _Dimension:
    return tuple(exponents.get(base, 0) for base in _BASES)


def _prefixed(words: Iterable[str], prefixes: dict[str, int], dimension: _Dimension) -> dict[str, tuple[Decimal, _Dimension]]:
    return {prefix + word: (Decimal(size), dimension) for word in words for prefix, size in ({"": 1} | prefixes).items()}


_LARGE = {"E": 10**18, "Z": 10**21, "Y": 10**24}
_SPELLED = {"kilo": "k", "mega": "M", "giga": "G", "tera": "T", "peta": "P", "exa": "E", "zetta": "Z", "yotta": "Y"}
"""Prefixes in full, of bytes, FLOPs and watts."""
_NUMBERS = {"thousand": "k", "million": "M", "billion": "G", "trillion": "T", "bn": "G"}
_IN_FULL = ("bit", "bits")
_BITS = ("b", *_IN_FULL)
_EACH = ("GPU", "GPUs", "gpu", "gpus", "chip", "chips", "accelerator", "accelerators")
"""Words for a chip in a price or a rate. They are counts and do not change the unit."""

_UNITS = {
    **{word: (Decimal(seconds), _dimension(s=1)) for word, seconds in _TIMES.items()},
    **_prefixed(("B", "byte", "bytes", "Byte", "Bytes"), _SI | _BINARY, _dimension(byte=1)),
    **{word: (size / 8, dimension) for word, (size, dimension) in _prefixed(_BITS, _SI, _dimension(byte=1)).items()},
    **{word: (size / 8, dimension) for word, (size, dimension) in _prefixed(("bps",), _SI, _dimension(byte=1, s=-1)).items()},
    **_prefixed(("Bps",), _SI, _dimension(byte=1, s=-1)),
    **_prefixed(("tps",), _SI, _dimension(token=1, s=-1)),
    **dict.fromkeys(_EACH, (Decimal(1), _dimension())),
    **_prefixed(("FLOP", "FLOPs", "Flop", "flop", "flops"), _SI | _LARGE, _dimension(FLOP=1)),
    **_prefixed(("FLOPS", "OPS"), _SI | _LARGE, _dimension(FLOP=1, s=-1)),
    **{word: (86400 * size, _dimension(FLOP=1)) for word, (size, _) in _prefixed(("FLOPday",), _SI | _LARGE, _dimension(FLOP=1)).items()},
    **_prefixed(("token", "tokens", "tok", "Tok"), _SI | {"B": 10**9}, _dimension(token=1)),
    **dict.fromkeys(("mtok", "mtoken", "mtokens"), (Decimal(10**6), _dimension(token=1))),
    **_prefixed(("USD", "usd"), {name: _SI[name] for name in "kKM"} | {"B": 10**9}, _dimension(USD=1)),
    **dict.fromkeys(("$", "dollar", "dollars"), (Decimal(1), _dimension(USD=1))),
    **dict.fromkeys(("cent", "cents", "ct", "¢"), (Decimal("0.01"), _dimension(USD=1))),
    **{word: (1 / Decimal(seconds), _dimension(s=-1)) for word, seconds in (("rps", 1), ("qps", 1), ("rpm", 60), ("qpm", 60))},
    **dict.fromkeys(("1", "request", "requests", "req", "param", "params", "parameters"), (Decimal(1), _dimension())),
    **_prefixed(("J", "joule"), _SI, _dimension(J=1)),
    **_prefixed(("W", "watt", "watts"), _SI, _dimension(J=1, s=-1)),
    **{word: (3600 * size, _dimension(J=1)) for word, (size, _) in _prefixed(("Wh",), _SI, _dimension(J=1)).items()},
}

DATA_TYPES = data_types.BYTES_OF_ONE
"""Bytes of one element."""
_OF_ONE = ("bytes_per_weight", "bytes_per_element", "bytes_per_param", "bytes_per_activation")
_PER_TOKENS = r"/\s*(?:1\s*)?([kKM])\s*(?i:tok(?:en)?s?)?\s*(?=/|$)"
_SIZE_PREFIX = r"(?<![\w/])[kKMGTP](?=(?:B|bytes?)?\b)"
_CHIP_HOUR = r"\s*\b(?:GPU|chip|accelerator)s?\s*[-·*]?\s*(?=(?:h|hr|hrs|hour|hours|s|d|day|days)\b)"
_TOKEN_HOUR = r"(?i)(?<=tok|ken|ens)\s*[-·*]\s*(?=(?:h|hr|hrs|hour|hours|s|d|day|days)$)"
_FLOP_DAY = r"(?i:flop)(?:S|s|/s)?\s*[-·*]\s*(?:d|days?)$"


def vocabulary() -> dict[str, Any]:
    """Return the words of units with their sizes and exponents in base units, the suffixes, and the data types."""
    return {
        "bases": _BASES,
        "words": {word: (float(size), *dimension) for word, (size, dimension) in _UNITS.items()},
        "suffixes": {name: float(size) for name, size in _SUFFIXES.items()},
        "types": DATA_TYPES,
    }


def is_of_one_element(name: str) -> bool:
    """Return whether a quantity is the bytes of one element, which may be given as a data type."""
    return name.endswith(_OF_ONE)


def _word(word: str, wanted: str) -> tuple[Decimal, _Dimension]:
    """Return a word of a unit. For an unknown word, suggest words with bases of the wanted unit."""
    if word == "m":
        raise _Unreadable("has the unit 'm': is that min or M?")
    if word not in _UNITS:
        others = [at for at, base in enumerate(_BASES) if base not in wanted.split("/")]
        of_bases = (name for name, (_, dimension) in _UNITS.items() if not any(dimension[at] for at in others))
        # A suggestion of "Gb" would lead to an eighth of the intended value.
        named = [name for name in of_bases if name.isalpha() and not (name.endswith((*_BITS, "ps")) or name in _EACH)]
        raise _Unreadable(f"has the unknown unit {shorten(word)}{suggest(word, named, lists=False)}")
    return _UNITS[word]


@lru_cache(1024)
def _unit(text: str, wanted: str) -> tuple[Decimal, _Dimension | None]:
    """Return the size and the dimension of a unit: an optional suffix, an optional unit, then `/unit` any number of times.

    The dimension is None if the text names no unit. B is byte if bytes are wanted.
    """
    numerator, *denominator = (part.split() for part in text.split("/"))
    factor = Decimal(1)
    if numerator and numerator[0] in _SUFFIXES and not ("byte" in wanted and numerator == ["B"]):
        factor = _SUFFIXES[numerator.pop(0)]
    if not numerator and not denominator:
        return factor, None
    if len(numerator) > 1 or any(len(words) != 1 for words in denominator):
        raise _Unreadable(f"has the unit {shorten(text.strip())}, which cannot be read")
    words = [word for part in (numerator, *denominator) for word in part]
    if (bits := next((word for word in words if word in _UNITS and word.endswith(_BITS)), None)) and "s" not in words:
        why = "a size is in bytes" if "byte" in wanted else "billions have a capital B"
        raise _Unreadable(f"is in bits, but {why}: write {bits.rstrip('bits')}B. Only rates are in bits, such as Gb/s")
    exponents = [0] * len(_BASES)
    for word, sign in [(word, 1) for word in numerator] + [(words[0], -1) for words in denominator]:
        size, dimension = _word(word, wanted)
        factor = factor * size if sign > 0 else factor / size
        exponents = [total + sign * own for total, own in zip(exponents, dimension, strict=True)]
    return factor, tuple(exponents)


@cache
def _wanted(unit: str) -> _Dimension:
    """Return the dimension of a unit of the registry."""
    return _unit(unit, unit)[1] or _dimension()


def flop_power(name: str) -> int:
    """Return the power of FLOP in the unit of a quantity."""
    return _wanted(quantity(name).unit)[_BASES.index("FLOP")]


def _spell(dimension: _Dimension) -> str:
    above = [base for base, power in zip(_BASES, dimension, strict=True) for _ in range(power)]
    below = ["/" + base for base, power in zip(_BASES, dimension, strict=True) for _ in range(-power)]
    return ("*".join(above) or "1") + "".join(below)


# -- reading --------------------------------------------------------------------------------------------------------

_COUNT = r"[0-9]+(?:_[0-9]+)*"
_FIGURE = rf"(?i)(\$?|USD\b)\s*([+-]?(?:(?:{_COUNT}(?:\.(?:{_COUNT})?)?|\.{_COUNT})(?:e[+-]?[0-9]+)?|(?:inf(?:inity)?|nan)\b))"
_NAME = r"[a-z]+(?:_[a-z]+)+"
_RANGE = r"\.\.|…|±|\+/?-|[0-9]\s*[-–—]\s*[0-9]"
_TYPOGRAPHIC_MINUS = {0x2212: "-"}
_SHELL = "the shell may have eaten a '$2': write '2 USD/h' or quote it"


def parse(name: str, text: str, binary: bool = False) -> float:
    """Return the value of a text for a quantity or its symbol, in SI [the unit of the quantity in the registry].

    A bare number is SI. A suffix k M G T P or B (byte if the quantity has bytes, else 1e9) may follow it, then a unit. "/token" may be
    left out, except from a price. Bits (Gb/s) are only accepted in a rate. One element may be 4 bits, or a data type. `binary` reads k, M,
    G, T of sizes as powers of 1024, as Ki and Gi always are. Raises UnknownName for the name, WrongUnit for a text that cannot be read, and
    WrongValue for a number outside the domain.

    >>> parse("hbm_bandwidth", "3.35TB/s"), parse("context_length", "200k"), parse("output_price", "$12/MTok"), parse("mfu", "40%")
    (3350000000000.0, 200000.0, 1.2e-05, 0.4)
    """
    row = quantity(name)
    try:
        value = _read(row, text, binary and row.unit in SIZES)
    except _Unreadable as fault:
        kind = "a plain number" if row.unit == "1" else f"in {row.unit}"
        # As it can be typed, without a dollar sign, which a shell would remove.
        example = "".join(figure_and_unit(row.name, sqrt(row.low * row.high), digits=2))
        raise WrongUnit(f"{row.name} is {kind}; {shorten(text)} {fault}; write e.g. {example}") from None
    return row.check(value, is_percentage=re.search("%|percent", text) is not None)


def _read(row: Quantity, text: str, binary: bool) -> float:
    shell = f" ({_SHELL})" if "USD" in row.unit else ""
    if len(text) > LONGEST:
        raise _Unreadable(f"has {len(text)} characters, and at most {LONGEST} are read")
    text = re.sub(r"\s", " ", text.strip()).translate(_TYPOGRAPHIC_MINUS)
    if mark := hidden(text):
        raise _Unreadable(f"holds the {mark_in_words(mark)}, which is invisible")
    if is_of_one_element(row.name) and text.lower() in DATA_TYPES:
        return DATA_TYPES[text.lower()]
    _refuse_traps(text, shell)
    match = re.match(_FIGURE, text)
    if match is None and is_of_one_element(row.name):
        raise _Unreadable(f"is neither a data type nor a number{suggest(text, DATA_TYPES)}")
    if match is None:
        # The shell turns an unquoted $0.5 into its own name and .5.
        raise _Unreadable(f"does not begin with a number{shell}")
    dollar, figure = match.groups()
    rest = text[match.end() :].strip()
    if rest in ("%", "percent"):
        # A quantity that is never below 1 in practice is a count or a multiple, so a percentage is a mistake.
        if row.unit != "1" or row.low >= 1:
            raise _Unreadable("is a percentage, but only shares may be percentages")
        return _multiply(figure, Decimal("0.01"))
    if row.unit == "1" and (whole := re.fullmatch(r"/\s*([1-9][0-9]*)", rest)):
        return _multiply(figure, 1 / Decimal(whole[1]))
    if is_of_one_element(row.name) and rest.lstrip("-") in _IN_FULL:
        return _multiply(figure, Decimal(1) / 8)
    rest = _normalise_unit(row, rest, binary)
    factor, dimension = _unit(_dollars_behind(rest) if dollar else rest, row.unit)
    _compare(row, factor, dimension)
    return _multiply(figure, factor)


def _normalise_unit(row: Quantity, rest: str, binary: bool) -> str:
    """Return a unit in the form of `_unit`: "/" for "per", "/h" for "/GPU-h", MTok for M, 1M and million tokens, Ki for a binary k, and
    prefixes and numbers in full as letters.
    """
    if not rest:
        return rest
    rest = re.sub(r"^([A-Za-z])\$", r"\1 $", rest)
    # A time of all chips together is counted in GPU-hours, and no other time.
    before = "" if row.unit == "s" and row.name.startswith("chip") else "(?<=/)"
    rest = re.sub(f"(?i){before}{_CHIP_HOUR}", " ", re.sub(r"(?:^|\s+)per\s+", "/", rest)).strip()
    rest = re.sub(_FLOP_DAY, "FLOPday", re.sub(_TOKEN_HOUR, "/", rest))
    rest = re.sub(rf"^({'|'.join(_NUMBERS)})\b", lambda number: _NUMBERS[number[0]], rest)
    rest = re.sub(rf"\b({'|'.join(_SPELLED)})(?=bytes?\b|watts?\b|(?i:flop))", lambda prefix: _SPELLED[prefix[0]], rest)
    if row.unit == "FLOP/s":
        # The s of TFLOPs is no plural in a rate.
        return re.sub(r"^([kMGTPEZY]?)(?i:flops)$", r"\1FLOPS", rest)
    if binary:
        return re.sub(_SIZE_PREFIX, lambda prefix: f"{prefix[0].upper()}i", rest)
    if "USD" not in row.unit or "token" not in row.unit:
        return rest
    letters = re.sub(r"(?i)/\s*(?:1\s*)?thousand(?!s)", "/k", re.sub(r"(?i)/\s*(?:1\s*)?million(?!s)", "/M", rest))
    return re.sub(_PER_TOKENS, r"/\1Tok", letters)


def _dollars_behind(rest: str) -> str:
    """Return the unit after a number with a $ before it, with the $ moved into the unit."""
    above, stroke, below = rest.partition("/")
    return f"{above} ${stroke}{below}"


def _refuse_traps(text: str, shell: str) -> None:
    """Refuse texts that would be read as another value than intended. `shell` is the hint on the dollar signs of a price."""
    if not text:
        raise _Unreadable(f"is empty{shell}")
    if text.startswith("/"):
        raise _Unreadable(f"has no number before the unit{shell}")
    if "," in text:
        raise _Unreadable(
            "has a comma, which may separate thousands, decimals or list items: write 1000 or 1_000 or 1.5. Only solve accepts lists"
        )
    if re.search(_RANGE, text):
        written = re.sub(r"(?<=\w)\s*[-–—]\s*(?=\d)", "..", text)
        here = f" ({shorten(written)[1:-1]})" if written != text else ""
        raise _Unreadable(f"looks like a range. Only solve accepts one, as low..high or middle±half{here}")


def _compare(row: Quantity, factor: Decimal, dimension: _Dimension | None) -> None:
    """Refuse a unit of another dimension than the quantity."""
    if dimension is None:
        if row.unit == "s" and factor != 1:
            raise _Unreadable("has an unknown suffix for a time: write ms, s, min, h or d, or a number of seconds")
        return
    seconds, byte, flop, token, usd, joule = wanted = _wanted(row.unit)
    without_token = (seconds, byte, flop, 0, usd, joule) if token == -1 and not usd else wanted
    if dimension not in (wanted, without_token):
        hint = f" ({_SHELL})" if usd and not dimension[_BASES.index("USD")] else ""
        raise _Unreadable(f"is in {_spell(dimension)}{hint}{_name_similar(row, dimension)}")


def _name_similar(row: Quantity, dimension: _Dimension) -> str:
    """Return the end of a sentence that names similar quantities of this dimension in the registry."""
    near = [
        name for name in dict.fromkeys(re.findall(_NAME, row.unlike)) if name in QUANTITIES and _wanted(QUANTITIES[name].unit) == dimension
    ]
    return f", as {' and '.join(near)} {'are' if len(near) > 1 else 'is'}" if near else ""


def _multiply(figure: str, factor: Decimal) -> float:
    """Return the product, rounded once. So `7 USD/MTok` is 7e-06 to the last bit."""
    plain = float(figure)
    if not isfinite(plain):
        return plain
    if {*figure.lower().partition("e")[0]}.isdisjoint("123456789"):
        return 0.0
    value = float(Decimal(figure) * factor) if plain else plain
    if abs(value) < float_info.min:
        raise _Unreadable(f"is nearer to 0 than {float_info.min:.3g}, the least that can be calculated with")
    return value


def named_texts(items: Iterable[str], among: Collection[str] = (), asked: Iterable[str] = (), beside: Iterable[str] = ()) -> dict[str, str]:
    """Return the texts of a list of `name=value` by registry name, without reading them. A symbol may be used as the name.

    The text of a limit, `name<=value` or `name>=value`, begins with its sign. Limits from both sides are one text. If only the names
    `among` some are allowed, the error for an unknown name lists them. Otherwise the error lists all unknown names, also unknown names in
    `asked`. The meaning of a word may depend on the other words, and on the quantities `beside` that the user did not type.

    Raises UnknownName for a name, and WrongValue if "=" is missing or a quantity has two different texts.

    >>> named_texts(["B=2400", "10ms <= t <= 30ms"]), named_texts(["tokens=15T"], asked=["training_cost"])
    ({'batch': '2400', 'step_time': '>=10ms <=30ms'}, {'pretrain_tokens': '15T'})
    """
    texts: dict[str, str] = {}
    asked, beside = tuple(asked), tuple(beside)
    pairs = [(word_of_type(word, typed), typed) for item in items for word, typed in _named(item)]
    spelled = (*asked, *(given for given, _ in pairs))
    if not among:
        refuse_unnamed(spelled, asked, beside)
    for given, typed in pairs:
        if among and given not in QUANTITIES and given not in NAME_OF_SYMBOL:
            raise UnknownName("anchor", given, among)
        name = meant_beside(given, (*spelled, *beside), asked)
        text = _add_usual_unit(name, add_named_unit(given, typed))
        texts[name] = join_values(name, texts.get(name, text), text)
    return texts


def join_values(name: str, first: Any, second: Any) -> Any:
    """Return two values that were given for one quantity as one: the same value, or limits on both sides.

    Raises WrongValue for any other two values.

    >>> join_values("step_time", ">=10ms", "<=30ms")
    '>=10ms <=30ms'
    """
    if first is second or (isinstance(first, str) and first == second):
        return first
    both = dict.fromkeys(one for value in (first, second) if isinstance(value, str) for one in signed(value))
    if sorted(one[:2] for one in both) != [*SIGNS]:
        raise WrongValue(f"{name} is given twice, as {shorten(str(first))} and as {shorten(str(second))}; give one value")
    return " ".join(both)


def add_named_unit(spelled: str, text: str) -> str:
    """Return a text with the unit in its word if it has no unit, and as a limit if its word means one. If the text has a part of this unit,
    the rest is added. A suffix replaces the prefix of the unit in the name.

    >>> add_named_unit("cost_per_mtok", "2"), add_named_unit("cost/Mtok", "1..5:log"), add_named_unit("cost_per_mtok", "$2/MTok")
    ('2 USD/MTok', '1..5 USD/MTok:log', '$2/MTok')
    >>> add_named_unit("requests_per_day", "2M requests"), add_named_unit("peak_tflops", "1979T"), add_named_unit("budget", "$50/h")
    ('2M requests/day', '1979T FLOP/s', '<=$50/h')
    """
    unit = own_unit(spelled)
    text = f"<={text}" if in_full(spelled) in SAYS_AT_MOST and not re.search(_MANY, text) and not signed(text) else text
    return _add_unit(unit, text) if unit else text


def _add_unit(unit: str, text: str) -> str:
    """Return a text with a unit after its numbers, or the rest of it after a part of it. A percentage after ± needs none."""
    text, share, *_ = *re.split(_TOLERANCE, text.rstrip(), maxsplit=1), ""
    text = re.sub(_PART, lambda part: part[0] + _rest_of_unit(unit, part), text)
    bare = re.match(_LAST_DIGIT, text)
    return (f"{bare[0]} {re.sub(_PREFIX, '', unit) if bare['suffix'] else unit}{text[bare.end() :]}" if bare else text) + share


def _rest_of_unit(unit: str, part: re.Match[str]) -> str:
    """Return the denominator of a unit if a number has only the numerator, such as /MTok for $2 and USD/MTok."""
    above, stroke, below = unit.partition("/")
    try:
        said = _unit(_dollars_behind(part["words"]) if part["dollar"] else part["words"], unit)[1]
    except _Unreadable:
        return ""
    # The shell may have removed the dollars of a number without a numerator.
    return stroke + below if stroke and said == _unit(above, unit)[1] else ""


def _add_usual_unit(name: str, text: str) -> str:
    """Return a price without a unit in the usual unit of its quantity, if none of its numbers is a usual value in SI.

    >>> _add_usual_unit("chip_price", "<=2.5"), _add_usual_unit("chip_price", "0.001"), _add_usual_unit("chip_price", "0.5..2:log")
    ('<=2.5 USD/h', '0.001', '0.5..2 USD/h:log')
    """
    row = QUANTITIES[name]
    numbers = re.split(r"\.\.|[,;]", re.sub(_TOLERANCE, "", text.partition(":")[0]).replace("$", "").strip("<>= USD"))
    bare = row.unit in _TOLD_IN and all(re.fullmatch(_PLAIN, one) for one in numbers)
    is_usual = bare and any(row.low <= float(one) <= row.high for one in numbers)
    return _add_unit(_TOLD_IN[row.unit], text) if bare and not is_usual else text


_TOLD_IN = {"USD/s": "USD/h", "USD/token": "USD/MTok", "USD/J": "USD/kWh"}
_PLAIN = r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+"


def word_of_type(spelled: str, value: Any) -> str:
    """Return the word that is meant: a data type if a word for stored bytes is given with one, a time of a token if "/token" says so.

    >>> word_of_type("kv", "fp8"), word_of_type("TPOT", "25 ms/token"), word_of_type("tpot", "25 ms")
    ('kv_dtype', 'time_per_output_token', 'tpot')
    """
    meant = IN_A_TYPE if _types_in(value) else OF_A_TOKEN if re.search(_EACH_TOKEN, str(value)) else {}
    return meant.get(in_full(spelled), spelled)


def data_type_named(words: Iterable[str], value: Any) -> str:
    """Return the data type of weights and arithmetic, or several with commas, if one of the typed words means it, else "".

    >>> data_type_named(["ctx", "dtype"], "BF16"), data_type_named(["weight_dtype"], "fp8")
    ('bf16', '')
    """
    return ",".join(_types_in(value)) if any(in_full(word) in OF_WEIGHTS_AND_ARITHMETIC for word in words) else ""


def _types_in(value: Any) -> list[str]:
    """Return the data types of a value in small letters, or an empty list if it holds anything else."""
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    types = [one.strip().lower() for one in re.split("[,;]", text)]
    return types if all(one in DATA_TYPES for one in types) else []


def add_unit_to_value(spelled: str, value: Any) -> Any:
    """Return a value from Python with plain numbers in the unit that its word names. Names of the registry are in SI.

    >>> add_unit_to_value("gpu_cost_per_hour", 2), add_unit_to_value("gpu_cost_per_hour", ["2", 3]), add_unit_to_value("chip_price", 2)
    ('2.0 USD/h', ['2 USD/h', '3.0 USD/h'], 2)
    """
    if spelled in QUANTITIES or not (own_unit(spelled) or in_full(spelled) in SAYS_AT_MOST):
        return value
    if isinstance(value, Real):
        return add_named_unit(spelled, str(float(value)))
    if isinstance(value, str):
        return add_named_unit(spelled, value)
    return [add_unit_to_value(spelled, one) for one in value] if isinstance(value, list | tuple) or getattr(value, "shape", None) else value


_EACH_TOKEN = r"(?:/|\bper)\s*tok(?:en)?\b"
_MANY = r"\.\.|[,;±]"
_TOLERANCE = r"(\s*(?:±|\+/?-)[^±]*%)$"
_LAST_DIGIT = rf"^(?![A-Za-z])[^:]*[0-9.] ?(?P<suffix>{'|'.join(_SUFFIXES)})?(?=$|:[a-z])"
_PART = r"(?P<dollar>\$?)\s*(?:[0-9][0-9_]*(?:\.[0-9]+)?|\.[0-9]+)(?:e[+-]?[0-9]+)?(?P<words>(?:\s*[A-Za-z$]+)*(?:/\s*[A-Za-z]+)*)"
"""A number with the words after it."""
_PREFIX = r"^[kMGTP]i?(?=B$|FLOP)"

SIGNS = ("<=", ">=")
"""The signs of limits: at most and at least."""

_OF_A_LIMIT = "<>≤≥"
"""Characters of which every sign of a limit has at least one."""
_SIGN = r"(?:<=|>=|=<|=>|[≤≥<>])\s*"
_TURNED = dict(zip(SIGNS, SIGNS[::-1], strict=True))


def _plain_signs(text: str) -> str:
    """Return a text with every sign of a limit as "<=" or ">="."""
    return re.sub(_SIGN, lambda sign: SIGNS[{*sign[0]}.isdisjoint("<≤")], text)


def signed(text: str) -> tuple[str, ...]:
    """Return the limits of a text, each beginning with "<=" or ">=", or () for a plain value.

    >>> signed("≤ 30ms"), signed(">10ms <50ms"), signed("30ms")
    (('<=30ms',), ('>=10ms', '<=50ms'), ())
    """
    if {*text}.isdisjoint(_OF_A_LIMIT):
        return ()
    first, *limits = re.split("(?=[<>]=)", _plain_signs(text))
    return () if first.strip() else tuple(map(str.rstrip, limits))


def _named(item: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of an input. A limit with its value first is turned around, and a limit on each side gives two."""
    given, sign, text = [*re.split("(<=|>=|=)", _plain_signs(item), maxsplit=1), "", ""][:3]
    if not sign:
        raise WrongValue(f"{shorten(item)} has no '='; write name=value, e.g. batch=2400")
    if sign == "=":
        yield given.strip(), text.strip()
        return
    name, further, rest = [*re.split("(<=|>=)", text, maxsplit=1), "", ""][:3]
    if re.match(_FIGURE, given.strip()):
        yield name.strip(), f"{_TURNED[sign]}{given.strip()}"
        given, sign, text = name, further, rest
    if sign:
        yield given.strip(), f"{sign}{text.strip()}"


# -- printing -------------------------------------------------------------------------------------------------------

_COUNTS = ((1e12, 1e12, "T"), (1e9, 1e9, "B"), (1e6, 1e6, "M"), (1e4, 1e3, "k"), (0.0, 1.0, ""))
"""The smallest value, the divisor and the suffix of each scale, the largest first. All tables below have this form."""

_POWERS = (*((size, size, prefix) for size, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))), (0.0, 1.0, ""))
_SCALES: dict[str, tuple[tuple[float, float, str], ...]] = {
    "1": _COUNTS,
    "s": (
        (864_000, 86_400, " days"),
        (3600, 3600, " h"),
        (120, 60, " min"),
        (1, 1, " s"),
        (1e-3, 1e-3, " ms"),
        (1e-6, 1e-6, " µs"),
        (0, 1e-9, " ns"),
    ),
    "s/token": ((1e-3, 1e-3, " ms/token"), (0, 1e-6, " µs/token")),
    **{
        unit: tuple((start, size, f"{suffix} {counted}") for start, size, suffix in _COUNTS)
        for unit, counted in {"token": "tokens", "token/s": "token/s", "1/s": "request/s"}.items()
    },
    **{
        unit: tuple((start, size, f" {prefix}{unit.replace('byte', 'B').replace('J/s', 'W')}") for start, size, prefix in _POWERS)
        for unit in ("byte", "byte/s", "byte/token", "FLOP/s", "FLOP/token", "J/s")
    },
    "FLOP": ((1e18, 1, " FLOP"), *((start, size, f" {prefix}FLOP") for start, size, prefix in _POWERS)),
    "J": (
        *((3600 * size, 3600 * size, f" {prefix}Wh") for size, _, prefix in _POWERS[1:-2]),
        *((360e3, 3.6e6, " kWh"), (1e3, 1e3, " kJ"), (0, 1, " J")),
    ),
    "chip_hours": ((3.6e9, 3.6e9, "M h"), (0, 3600, " h")),
    "USD": ((1e9, 1e9, "B USD"), (1e6, 1e6, "M USD"), (0, 1, " USD")),
    "USD/J": ((0, 1 / 3.6e6, " USD/kWh"),),
    "USD/s": ((0, 1 / 3600, " USD/h"),),
    "USD/token": ((0, 1e-6, " USD/MTok"),),
    "USD/token/s": ((0, 1e-6 / 3600, " USD/MTok/h"),),
}


def show(name: str, value: float, digits: int = 4) -> str:
    """Return a value [SI] of a quantity as text in the unit that people use, to `digits` significant digits. `parse` reads it.

    Raises UnknownName for the name.

    >>> show("step_time", 0.0144), show("active_params", 37e9), show("context_length", 200_000), show("output_price", 1.2e-5)
    ('14.4 ms', '37B', '200k tokens', '$12/MTok')
    """
    figure, unit = figure_and_unit(name, value, digits)
    suffix, dollars, per = unit.partition(" USD")
    return f"${figure}{suffix}{per}" if dollars else figure + unit


def scale(name: str, value: float, digits: int = 4) -> tuple[float, str]:
    """Return the size [SI] and the name of the unit in which people write a value of a quantity.

    >>> scale("step_time", 0.0144), scale("cost_per_token", 1e-6)
    ((0.001, ' ms'), (1e-06, ' USD/MTok'))
    """
    # The scale is chosen by the rounded value, so that 999.99 µs is not printed as 1000 µs.
    rounded = abs(float(_figure(value, digits)))
    scales = people_units(name)
    return next(((size, unit) for start, size, unit in scales if rounded >= start), scales[-1][1:])


def people_units(name: str) -> tuple[tuple[float, float, str], ...]:
    """Return the units in which people write a quantity, the largest first: the smallest value [SI], the size [SI] and the name."""
    row = quantity(name)
    return _TYPED.get({}).get(row.name) or _SCALES.get(row.name) or _SCALES.get(row.unit, ((0, 1, f" {row.unit}"),))


_TYPED: ContextVar[Mapping[str, tuple[tuple[float, float, str], ...]]] = ContextVar("typed")
"""The units of quantities whose typed words state one."""


@contextmanager
def shown_as_typed(words: Mapping[str, str]) -> Iterator[None]:
    """Print quantities in the units that their words state. Each word has the name of its quantity as its key.

    >>> with shown_as_typed({"requests_per_second": "requests_per_day", "bytes_per_weight": "bits", "batch": "bs"}):
    ...     show("requests_per_second", 12.0), show("bytes_per_weight", 0.5), show("batch", 8)
    ('1.037M request/day', '4 bit', '8')
    """
    found = {}
    for name, unit in ((name, own_unit(word)) for name, word in words.items()):
        # The unit of a word may be a rate of its quantity: a budget of a month.
        with suppress(_Unreadable):
            size = _read(QUANTITIES[name], f"1 {unit}", binary=False) if unit else 0.0
            suffix = SEVERAL.get(unit or "", unit)
            found[name] = tuple((start * size, scale * size, f"{mark} {suffix}") for start, scale, mark in _COUNTS if mark != "k" and size)
    before = _TYPED.set(found)
    try:
        yield
    finally:
        _TYPED.reset(before)


def figure_and_unit(name: str, value: float, digits: int = 4) -> tuple[str, str]:
    """Return the number and the unit of a value [SI] of a quantity as text.

    >>> figure_and_unit("step_time", 0.0144), figure_and_unit("active_params", 37e9), figure_and_unit("output_price", 1.2e-5)
    (('14.4', ' ms'), ('37', 'B'), ('12', ' USD/MTok'))
    """
    row = quantity(name)
    size, unit = scale(row.name, value, digits)
    figure = _figure(value / size, digits)
    if row.unit in _COUNTS_OF and digits >= _SHOWN and _ALL_DIGITS > value == round(value) != float(figure) * size:
        return f"{value:.0f}", "" if row.unit == "1" else f" {row.unit}s"
    return figure, " token" if (figure, unit) == ("1", " tokens") else unit


_COUNTS_OF, _SHOWN, _ALL_DIGITS = ("1", "token"), 4, 1e6
"""Whole numbers below a million in these units are printed with all digits, unless fewer digits than usual are requested."""


def _figure(value: float, digits: int) -> str:
    figure = f"{value:.{digits}g}"
    return f"{Decimal(figure):f}" if "e" in figure and 1e-9 < abs(value) < 1e15 else figure
