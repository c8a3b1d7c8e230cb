"""Everything people type is read or refused with a message that helps; everything printed reads back."""

from collections import Counter
from contextlib import suppress
from fractions import Fraction
from math import prod
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from derive.errors import BacksolveError, UnknownName, WrongUnit, WrongValue
from derive.quantities import QUANTITIES, quantity
from derive.units import named_texts, parse, show
from tests.tools.together import in_one_test

READ = [
    # bare numbers are SI, in any spelling of a number
    ("batch", "2400", 2400),
    ("B", " 2_400 ", 2400),
    ("batch", "+2.4e3", 2400),
    ("step_time", "0.024", 0.024),
    ("overlap", "0", 0),
    ("cache_write_premium", "-0", 0),
    # suffixes
    ("context_length", "200k", 200_000),
    ("context_length", "1M", 1e6),
    ("total_params", "1T", 1e12),
    # B is byte where the quantity has bytes, else 1e9
    ("bytes_per_weight", "1B", 1),
    ("batch", "0.001B", 1e6),
    # bytes, decimal and binary
    ("hbm_capacity", "80 GiB", 85_899_345_920),
    # "/token" may be dropped
    ("kv_bytes_per_token", "1.7 kB", 1700),
    ("kv_bytes_per_token", "1.7 GB/Mtok", 1700),
    ("attention_flops_per_pair", "1 MFLOP", 1e6),
    # FLOP
    ("peak_flops", "989 TFLOPS", 989e12),
    ("peak_flops", "989 TFLOPs", 989e12),
    ("peak_flops", "989 teraflops", 989e12),
    ("pretrain_flops", "1 petaflop/s-day", 8.64e19),
    ("requests_per_second", "600 rpm", 10.0),
    ("electricity_price", "8 ct/kWh", 0.08 / 3.6e6),
    ("ridge_point", "591 FLOP/B", 591),
    ("step_time", "24000µs", 0.024),
    ("step_time", "24000μs", 0.024),
    # money
    ("chip_price", "$2/h", 2 / 3600),
    ("output_price", "7 usd/Mtokens", 7e-6),
    # power and energy
    ("chip_power", "1.2 kW", 1200.0),
    ("chip_capex", "$30k", 30e3),
    # prices as price lists and clouds have them
    ("chip_price", "$3/GPU-h", 3 / 3600),
    ("chip_price", "3 USD per GPU hour", 3 / 3600),
    ("output_price", "$15/M", 15e-6),
    ("output_price", "$0.002/1k tokens", 2e-6),
    ("storage_price", "$4.5/M/h", 1.25e-9),
    # bits of rates, an eighth of a byte each
    ("tier_bandwidth", "400 Gb/s", 50e9),
    ("tier_bandwidth", "400Gbps", 50e9),
    ("hbm_bandwidth", "3.35TBps", 3.35e12),
    # powers of 1024 of what is counted
    ("context_length", "128Ki tokens", 131072),
    # rates in words
    ("throughput", "2000 tokens per second", 2000),
    ("chips", "8 GPUs", 8),
    ("deployment_time", "1y", 365.25 * 86400),
    ("deployment_time", "3 months", 365.25 / 4 * 86400),
    # data types
    ("bytes_per_element", "fp8", 1),
    ("indexer_bytes_per_element", "fp4", 0.5),
    ("bytes_per_weight", "4 bit", 0.5),
    # shares
    ("mfu", "40%", 0.4),
    ("mfu", "40 percent", 0.4),
]


@in_one_test(("name", "text", "value"), READ)
def test_reads_what_people_type(name, text, value):
    assert parse(name, text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("name", "text", "value"), [("output_price", "7 USD/MTok", 7e-6), ("step_time", "4.35ms", 0.00435), ("mfu", "35%", 0.35)]
)
def test_the_figure_is_rounded_once(name, text, value):
    assert parse(name, text) == value


REFUSED = [
    # another dimension
    ("hbm_bandwidth", "3.35TB", "is in byte;", "TB/s"),
    ("context_length", "1.7kB", "is in byte;", "tokens"),
    ("batch", "2400 tokens", "is in token;", "1000"),
    ("chip_price", "$2 USD/h", "cannot be read", "USD/h"),
    # units that do not exist, or that mean two things
    ("ttl", "5m", "is that min or M?", "min"),
    ("context_length", "5m", "is that min or M?", "tokens"),
    ("ttl", "5k", "unknown suffix for a time", "min"),
    ("hbm_capacity", "80gb", "did you mean 'GB'", "GB"),
    ("batch", "3lb", "unknown unit 'lb'; write e.g.", "1000"),
    ("batch", "3 reqests", "did you mean 'requests'", "1000"),
    ("hbm_capacity", "80Gb", "is in bits, but a size is in bytes: write GB", "GB"),
    ("kv_bytes_per_sequence", "fp8", "does not begin with a number", "GB"),
    ("batch", "2400 x y", "cannot be read", "1000"),
    ("batch", "40%", "only shares", "1000"),
    # the shell ate the dollar
    ("chip_price", "/h", "'2 USD/h' or quote it", "USD/h"),
    ("output_price", "bash.5/MTok", "'2 USD/h' or quote it", "USD/MTok"),
    ("batch", "   ", "is empty", "1000"),
    # ranges, lists and commas
    ("batch", "80..120", "low..high or middle±half", "1000"),
    ("mfu", "0.4±0.1", "low..high or middle±half", "0.1"),
    ("batch", "1,8,64", "Only solve accepts lists", "1000"),
    ("batch", "1,000", "write 1000 or 1_000", "1000"),
    # no number at all
    ("batch", "many", "does not begin with a number", "1000"),
    ("batch", "٣", "does not begin with a number", "1000"),
    ("batch", "10²", "unknown unit '²'", "1000"),
    ("batch", "__import__('os').getcwd()", "does not begin with a number", "1000"),
    ("batch", "9" * 201, "201 characters", "1000"),
]


@in_one_test(("name", "text", "why", "allowed"), REFUSED)
def test_refusal_names_the_quantity_the_text_and_what_to_write(name, text, why, allowed):
    with pytest.raises(WrongUnit) as caught:
        parse(name, text)
    message = str(caught.value)
    assert message.startswith(name) and why in message and repr(text)[:50] in message
    assert message.partition("write e.g. ")[2].endswith(allowed)
    assert len(message) < 400


OUTSIDE = [
    ("batch", "0", "batch = 0: must be > 0"),
    ("batch", "-5", "batch = -5: must be > 0"),
    ("step_time", "−24 ms", "step_time = -0.024: must be > 0"),
    ("batch", "nan", "must be a finite number > 0"),
    ("mfu", "40", "must be in (0, 1]"),
    ("overlap", "-0.5", "must be in [0, 1]"),
    ("hbm_capacity", "1e7 PB", "from 1e+10 to 1e+12"),
]


@in_one_test(("name", "text", "message"), OUTSIDE)
def test_numbers_outside_the_domain(name, text, message):
    with pytest.raises(WrongValue) as caught:
        parse(name, text)
    assert message in str(caught.value) and str(caught.value).startswith(name)


@in_one_test("row", QUANTITIES.values(), ids=lambda row: row.name)
def test_the_example_of_every_refusal_can_be_typed(row):
    with pytest.raises(WrongUnit) as caught:
        parse(row.name, "?")
    typed = str(caught.value).partition("write e.g. ")[2]
    assert "$" not in typed
    assert row.low <= parse(row.name, typed) <= row.high


units_and_junk = st.text(alphabet="0123456789.eE+-_,/$% kKMGBTPhsminduµoken²٣\n\x00", max_size=30)


@given(st.sampled_from(list(QUANTITIES)), st.text(max_size=250) | units_and_junk)
@example("batch", "\ud800")
@example("batch", "1" + "/ns" * 60)
def test_any_text_gives_a_number_or_a_named_mistake(name, text):
    try:
        value = parse(name, text)
    except BacksolveError:
        return
    assert type(value) is float and quantity(name).check(value) == value


WORDS = {
    **{"ns": ("1e-9", "s"), "ms": ("0.001", "s"), "s": ("1", "s"), "min": ("60", "s"), "h": ("3600", "s"), "days": ("86400", "s")},
    **{"bytes": ("1", "byte"), "kB": ("1e3", "byte"), "GB": ("1e9", "byte"), "TB": ("1e12", "byte"), "GiB": (str(2**30), "byte")},
    **{"FLOP": ("1", "FLOP"), "TFLOP": ("1e12", "FLOP"), "tokens": ("1", "token"), "Mtok": ("1e6", "token"), "USD": ("1", "USD")},
    **{"J": ("1", "J"), "kJ": ("1e3", "J"), "kWh": ("3.6e6", "J")},
}
"""The value of each word, and its base unit."""
FIGURES = ("0", "1", "2.5", ".125", "3e-3", "1e12", "7", "640", "-4")


def fits(unit: str, above: str, below: list[str]) -> bool:
    """Return whether words are of the unit of a quantity. A quantity per token may leave that out, unless it is a price."""
    top, *bottom = unit.split("/")
    powers, wanted = Counter({above: 1}), Counter() if top == "1" else Counter(top.split("*"))
    powers.subtract(below)
    wanted.subtract(bottom)
    short = Counter({base: power for base, power in wanted.items() if base != "token"})
    return powers == wanted or (powers == short and wanted["token"] == -1 and not wanted["USD"])


def test_words_of_the_unit_multiply_and_all_others_are_refused():
    random, bases = Random(1), sorted({base for _, base in WORDS.values()})
    for _ in range(2000):
        name, figure = random.choice([*QUANTITIES]), random.choice(FIGURES)
        unit = QUANTITIES[name].unit
        wanted = unit.replace("1", "USD").split("/") if random.random() < 0.6 else random.choices(bases, k=random.randint(1, 3))
        words = [random.choice([word for word, (_, base) in WORDS.items() if base in one.split("*")]) for one in wanted]
        text = f"{random.choice(['', '  '])}{figure} {words[0]}" + "".join(
            random.choice(["/", " / ", " per "]) + word for word in words[1:]
        )
        (factor, base), *below = (WORDS[word] for word in words)
        value = Fraction(figure) * Fraction(factor) / prod(Fraction(one) for one, _ in below)
        if not fits(unit, base, [one for _, one in below]):
            with pytest.raises(WrongUnit):
                parse(name, text)
            continue
        try:
            expected = quantity(name).check(float(value))
        except WrongValue:
            with pytest.raises(WrongValue):
                parse(name, text)
        else:
            assert parse(name, text) == pytest.approx(expected, rel=1e-15, abs=0), text


# -- names and texts -------------------------------------------------------------------------------------------------


def test_named_texts_take_names_and_symbols():
    read = named_texts(["B=2400", "hbm_bandwidth = 3.35TB/s", "N_a=37B"])
    assert read == {"batch": "2400", "hbm_bandwidth": "3.35TB/s", "active_params": "37B"}
    assert named_texts([]) == {}
    assert named_texts(["B=2400", "batch=2400"]) == {"batch": "2400"}


@in_one_test(
    ("items", "texts"),
    [
        (["step_time <= 30ms"], {"step_time": "<=30ms"}),
        (["t≤30ms"], {"step_time": "<=30ms"}),
        (["ttft =< 2s"], {"time_to_first_token": "<=2s"}),
        (["throughput≥2000"], {"throughput": ">=2000"}),
        (["30ms>=step_time"], {"step_time": "<=30ms"}),
        (["10ms < step_time < 30ms"], {"step_time": ">=10ms <=30ms"}),
        (["t>=10ms", "step_time<=30ms"], {"step_time": ">=10ms <=30ms"}),
    ],
)
def test_limits_in_every_spelling_are_their_name_and_a_sign(items, texts):
    assert named_texts(items) == texts


@in_one_test(
    ("items", "kind", "words"),
    [
        (["batch"], WrongValue, ["'batch'", "no '='", "batch=2400"]),
        (["batch=1", "B=2"], WrongValue, ["batch is given twice", "1", "2"]),
        (["bath=1"], UnknownName, ["'bath'", "'batch'"]),
        (["=1"], UnknownName, ["''"]),
        (["t<=1s", "step_time<=2s"], WrongValue, ["step_time is given twice", "<=1s", "<=2s"]),
        (["t<=1s", "step_time=2s"], WrongValue, ["step_time is given twice"]),
        (["10ms<=bath<=1s"], UnknownName, ["'bath'", "'batch'"]),
    ],
)
def test_named_texts_that_are_wrong(items, kind, words):
    with pytest.raises(kind) as caught:
        named_texts(items)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    ("name", "text", "words"), [("batch", "a=b", ["batch", "'a=b'", "1000"]), ("chip_price", "/h", ["shell", "2 USD/h"])]
)
def test_what_stands_after_the_sign_is_read_by_quantity(name, text, words):
    assert named_texts([f"{name}={text}"]) == {name: text}
    with pytest.raises(WrongUnit) as caught:
        parse(name, text)
    assert all(word in str(caught.value) for word in words)


@given(st.lists(st.text(max_size=40), max_size=3))
def test_any_texts_have_names_of_the_registry_or_a_named_mistake(items):
    with suppress(BacksolveError):
        assert all(name in QUANTITIES for name in named_texts(items))


# -- printing -------------------------------------------------------------------------------------------------------

PRINTED = [
    ("step_time", 0.0144, "14.4 ms"),
    ("step_time", 999.999e-6, "1 ms"),
    ("ttl", 300, "5 min"),
    ("ttl", 3599.99, "1 h"),
    ("training_time", 3.83e6, "44.33 days"),
    ("pretrain_flops", 6.3e24, "6.3e+24 FLOP"),
    ("total_params", 1e12, "1T"),
    ("batch", 2403.7, "2404"),
    ("batch", 23987.5, "23.99k"),
    ("context_length", 32768, "32768 tokens"),
    ("chip_hours", 26.62e6 * 3600, "26.62M h"),
    ("context_length", 200_000, "200k tokens"),
    ("tokens_per_step", 1, "1 token"),
    ("throughput", 128_000, "128k token/s"),
    ("kv_bytes_per_token", 1700, "1.7 kB/token"),
    ("bytes_per_weight", 0.5, "0.5 B"),
    ("peak_flops", 1.979e15, "1.979 PFLOP/s"),
    ("attention_flops_per_pair", 2.5e6, "2.5 MFLOP/token"),
    ("output_price", 12e-6, "$12/MTok"),
    ("cache_read_price", 1e-11, "$0.00001/MTok"),
    ("storage_price", 1.25e-9, "$4.5/MTok/h"),
    ("chip_price", 2 / 3600, "$2/h"),
    ("electricity_price", 0.08 / 3.6e6, "$0.08/kWh"),
    ("training_energy", 2.238e3 * 3.6e9, "2.238 GWh"),
    ("output_energy", 4.667e5, "0.1296 kWh"),
    ("training_cost", 999, "$999"),
    ("training_cost", 999_999, "$1M"),
    ("overlap", 0, "0"),
]


@in_one_test(("name", "value", "text"), PRINTED)
def test_prints_the_units_people_use(name, value, text):
    assert show(name, value) == text


def test_digits_are_significant_digits():
    assert [show("peak_flops", 989.4e12, digits) for digits in (1, 2, 3, 4)] == ["1 PFLOP/s", "990 TFLOP/s", "989 TFLOP/s", "989.4 TFLOP/s"]


@given(st.sampled_from(list(QUANTITIES.values())), st.floats(0, 1), st.integers(2, 15))
def test_what_is_printed_reads_back(row, position, digits):
    value = row.high if not row.low else row.low * (row.high / row.low) ** position
    assert parse(row.name, show(row.name, value, digits)) == pytest.approx(value, rel=0.500001 * 10 ** (1 - digits))


@in_one_test("row", [row for row in QUANTITIES.values() if row.may_be_zero], ids=lambda row: row.name)
def test_zero_reads_back(row):
    assert parse(row.name, show(row.name, 0.0)) == 0


@in_one_test("end", [0, 1])
@in_one_test("row", QUANTITIES.values(), ids=lambda row: row.name)
def test_the_extremes_that_are_accepted_print_and_read_back(row, end):
    value = row.limits()[end] or row.high / 1e12
    # A hair inside, so that a last bit lost in the decimal figure does not carry it over the limit.
    value += (1e-9 if end == 0 else -1e-9) * abs(value)
    assert parse(row.name, show(row.name, value, 12)) == pytest.approx(value, rel=1e-11)


@in_one_test("text", ["1\u200bms", "1ms\u200b", "\ufeff1ms", "1\u00adms", "1\ufe0fms", "1 \u2060ms"])
def test_a_character_that_does_not_show_is_named(text: str):
    with pytest.raises(WrongUnit, match=r"holds the character U\+[0-9A-F]{4} \(.*\), which is invisible"):
        parse("step_time", text)


@in_one_test("space", ["\u00a0", "\u202f", "\u2009", "\u3000", " \u00a0"])
def test_any_white_space_may_stand_around_a_number(space: str):
    assert parse("step_time", f"{space}1{space}ms{space}") == 1e-3


@in_one_test("figure", ["1e-400", "0.0001e-320", "1e-320", "2.2e-308", ".1e-9999999999999999999", "1e-400%"])
def test_a_number_too_small_to_calculate_with_is_refused_and_not_taken_for_zero(figure: str):
    shares = [name for name, row in QUANTITIES.items() if row.unit == "1" and row.low < 1]
    for name in shares if "%" in figure else QUANTITIES:
        with pytest.raises(WrongUnit, match=r"is nearer to 0 than 2\.23e-308"):
            parse(name, figure)


@in_one_test("figure", ["0", "-0", "0.0", "0e-400", "0e99999999999999999999", "-0.0e5", "0%"])
def test_nothing_in_any_spelling_is_a_plain_zero(figure: str):
    (name, *_) = [name for name, row in QUANTITIES.items() if row.may_be_zero and row.unit == "1" and row.low < 1]
    assert str(parse(name, figure)) == "0.0"
    with pytest.raises(WrongValue):
        parse("batch", figure.rstrip("%"))


@in_one_test("figure", ["1e400", "1e99999999999999999999", "inf", "9e307 P", "1" + "0" * 180 + "e200"])
def test_a_number_too_large_is_refused(figure: str):
    with pytest.raises((WrongUnit, WrongValue)):
        parse("batch", figure)


@in_one_test(
    ("typed", "read"),
    [
        ("rent=2.5", {"chip_price": 2.5 / 3600}),
        ("rent=0.8", {"chip_price": 0.8 / 3600}),
        ("chip_price=0.001", {"chip_price": 0.001}),
        ("input_price=$3", {"input_price": 3e-6}),
        ("electricity_price=0.08", {"electricity_price": 0.08 / 3.6e6}),
        ("batch=3", {"batch": 3}),
    ],
)
def test_a_bare_price_that_is_met_in_no_practice_is_in_the_unit_that_prices_are_told_in(typed, read):
    texts = named_texts([typed])
    assert {name: parse(name, text) for name, text in texts.items()} == pytest.approx(read)


@pytest.mark.parametrize(
    ("name", "text", "same"),
    [
        ("chip_price", "250 cents/h", "2.5 USD/h"),
        ("output_price", "USD 0.4 per Mtok", "0.4 USD/MTok"),
        ("electricity_price", "8 cents/kWh", "0.08 USD/kWh"),
        ("pretrain_flops", "6.3 YFLOP", "6.3e24 FLOP"),
        ("pretrain_flops", "6.3e3 ZFLOP", "6.3e24 FLOP"),
        ("pretrain_flops", "1e6 PFLOP/s-day", "8.64e25 FLOP"),
        ("hbm_capacity", "80 gigabytes", "80 GB"),
        ("hbm_capacity", "80 billion bytes", "80 GB"),
        ("active_params", "70 billion", "70B"),
        ("training_cost", "$10 million", "10M USD"),
        ("storage_price", "4.5 $/Mtok-h", "4.5 USD/MTok/h"),
        ("chip_hours", "30.84Mh", "30840000 h"),
        ("decode_efficiency", "1/4", "0.25"),
    ],
)
def test_units_and_numbers_may_be_written_as_people_write_them(name: str, text: str, same: str):
    assert parse(name, text) == pytest.approx(parse(name, same), rel=1e-12)
