"""All sheets at a glance: a line each within any width, in the order that is asked, and nothing without what qualifies it."""

import re
from dataclasses import replace
from itertools import pairwise, product

import pytest

from derive.characters import width_of
from derive.errors import UnknownName, WrongValue
from invert.inference import infer
from invert.records import OF_ARCHITECTURE
from invert.report.glance import (
    _COLUMNS,
    _FIRST_TO_GO,
    _MARKED_COLUMNS,
    _MARKS,
    OF_TEXT,
    SHOWN_COLUMNS,
    _letters,
    _letters_of,
    _lines,
    _prices,
    column_of,
    glance,
    in_order,
    picked,
)
from invert.report.size import stated_size
from tests.tools.inferred import current, everything
from tests.tools.together import in_one_test

HEAD_LINES = 4
"""Lines before the first sheet: two of names, the records, a rule."""


def sheets_of(text: str) -> list[str]:
    body, *_ = text.partition(f"\n\n{len(current())} sheets")
    return [line for line in body.splitlines()[HEAD_LINES:] if line]


def below(text: str) -> str:
    """What stands under the table, as one line."""
    return " ".join(text.rpartition("\n\n")[2].split())


@in_one_test("width", [*range(80, 121), 200])
def test_three_lines_stand_below_the_table(width: int):
    text = glance(current(), width)
    told = text.split("\n\n")[-1].splitlines()
    assert len(told) <= 3 and told[0].startswith(f"{len(current())} sheets") and "More: infer MODEL; --wide" in below(text), told


def test_it_fits_a_page_whole_and_any_terminal_from_60():
    whole = glance(current(), 100)
    assert "left out" not in whole.lower() and max(map(len, whole.splitlines())) <= 100
    for width in (60, 70, 80, 90, 120, 200):
        text = glance(current(), width)
        assert max(map(len, text.splitlines())) <= width and len(sheets_of(text)) == len(current())
    narrow = glance(current(), 80)
    assert "; --wide (mark-up, cache)." in below(narrow)
    assert "272k 2/1.5" in narrow and "and range" in narrow and "known" in narrow.splitlines()[1]


def left_out(width: int) -> list[str]:
    """The columns that are named as left out, in the order in which they go."""
    named = re.search(r" --wide \(([^)]+)\)", below(glance(current(), width)))
    return sorted(named[1].split(", ") if named else [], key=_FIRST_TO_GO.index)


@in_one_test("width", [*range(56, 96, 4)])
def test_the_last_that_is_left_out_has_no_room(width: int):
    *_, last = gone = left_out(width)
    more = [name for name in SHOWN_COLUMNS if name == last or name not in gone]
    head, rows = _lines(current(), current(), more, _letters(current(), more), " ", width)
    assert max(map(len, (*head, *rows))) > width, f"{last} has room"


def test_a_wider_terminal_shows_whatever_a_narrower_one_does():
    gone = [left_out(width) for width in range(50, 121)]
    assert all([*_FIRST_TO_GO[: len(one)]] == one for one in gone) and not gone[-1] and len(gone[0]) > 3
    assert all(len(wider) <= len(narrower) for narrower, wider in pairwise(gone))


def test_a_flag_that_a_column_said_which_is_left_out_is_a_letter():
    assert "architecture assumed" not in below(glance(current(), 60)) and "--wide (price, long, mark-up, known, cache)." in below(
        glance(current(), 50)
    )
    assert "architecture assumed" in below(glance(current(), 50)), "it qualifies the size that is stated"


def test_sheets_with_a_price_of_long_context_come_first_and_the_dearest_before_the_others():
    found = in_order(current())
    prices = [one.sheet.bands[0].input.usd_per_token for one in found]
    banded = sum(bool(one.pairs) for one in found)
    assert all(one.pairs for one in found[:banded]) and 0 < banded < len(found)
    assert prices[:banded] == sorted(prices[:banded], reverse=True) and prices[banded:] == sorted(prices[banded:], reverse=True)
    assert glance(current()).splitlines()[HEAD_LINES + banded] == ""


@in_one_test("name", [column.name for column in _COLUMNS])
def test_it_is_sorted_by_any_column_from_the_largest_or_the_other_way(name: str):
    (column,) = [column for column in _COLUMNS if column.name == name]
    for by in (name, f"-{name}"):
        keys = [column.key(one) for one in in_order(current(), by)]
        known = [key for key in keys if key is not None]
        texts = isinstance(known[0], str)
        assert known == sorted(known, reverse=texts == by.startswith("-")) and keys[: len(known)] == known


def test_a_line_says_what_the_record_has():
    (line,) = [line for line in sheets_of(glance(current())) if line.startswith("gpt-6.1-terra ")]
    assert line.split() == ["gpt-6.1-terra", "1/5", "272k", "2/1.5", "30", "8.9-100", "-", "20*", "2.8-140", "-", "~HBM?"]
    (known,) = [line for line in sheets_of(glance(current())) if line.startswith("MiniMax-M3 ")]
    assert known.split()[:11] == ["MiniMax-M3", "0.3/1.2", "512k", "2/2", "23", "stated", "12", "7.7-18", "27", "2.7-280", "21"]


def test_a_size_has_the_word_of_its_grade_and_a_mark_up_its_range():
    found = {line.split()[0]: " ".join(line.split()) for line in sheets_of(glance(current()))}
    stated = [one for one in current() if one.size_stated]
    words = {stated_size(one).rpartition("(")[2].rstrip(")") for one in stated}
    assert words == {"known", "assumed"} and "x" not in found["qwen3-coder-plus"].partition(" ")[2]
    for one in stated:
        cells = [column.text(one) for column in _COLUMNS if column.name in ("active", "mark-up")]
        counted = one.anchors.origin["active_params"] == OF_ARCHITECTURE
        assert cells[0].endswith(" assumed" if "(assumed)" in stated_size(one) else " known" if counted else " stated")
        ends = one.market["input_markup"]
        assert cells[1] == f"{ends.median:.2g} {ends.low:.2g}-{float(f'{ends.high:.2g}'):g}"
    assert "35 assumed 25 17-38 " in found["qwen3-coder-plus"] and "3.3 assumed 81 54-120 " in found["qwen3-coder-flash"]


def test_a_size_that_nobody_states_is_known_by_its_architecture():
    (line,) = [line for line in sheets_of(glance(current())) if line.startswith("kimi-k3 ")]
    assert "100 known" in line and "; known by architecture" in below(glance(current()))
    assert "known by" not in glance(current(), columns=["model", "price"]) and "known by" not in glance(infer("MiniMax-M3"))


def test_the_head_says_how_often_such_ranges_held():
    day, columns, held, *_ = glance(current()).splitlines()
    assert columns.index("and range", columns.index("and range") + 1) == day.index("mark-up "), "as in every other table"
    assert day.startswith(f"prices of {current().as_of} ")
    assert held.split() == [*["90%", "held,", "open", "models"], *["≥38", "of", "42"], *["11", "of", "14"], *["1", "of", "5"]]
    assert " ≥ or more; " in below(glance(current())) and " ≥ or more; " in below(glance(current(), 80))
    assert "Held of cache: disclosed tiers." in below(glance(current())) and "disclosed" not in below(glance(current(), 80))
    assert "tiers held" in glance(current(), columns=["model", "cache"]) and "open models" not in glance(
        current(), columns=["model", "cache"]
    )


def test_a_record_that_all_rows_have_is_no_least_one():
    run = current()
    alike = tuple(one for one in run if one.market["active_params"].kept in (None, (38, 42)))
    assert 0 < len(alike) < len(run) and "≥" not in glance(replace(run, inferences=alike))


def test_the_record_in_the_head_is_the_least_of_those_of_the_sheets_and_rules():
    run = current()
    kept = {one.kv_bytes["headline"].kept for one in run} - {None}
    assert "{} of {}".format(*min(kept)) == "11 of 14"
    scores = [row for row in run.tier_rules.value.scores if row.rule.startswith("cost optimality") and row.answered]
    assert min((row.right, row.answered) for row in scores) == (1, 5)


def test_flags_are_letters_that_are_explained():
    said = below(glance(current()))
    (line,) = [line for line in sheets_of(glance(current())) if line.startswith("glm-4.7 ")]
    assert line.split()[-1] == "a" and "; a CNY; " in said
    (line,) = [line for line in sheets_of(glance(current())) if line.startswith("gemini-3.7-flash ")]
    assert f"{line.split()[-1]} introductory;" in said, "the day on which it ends is the report's"


def test_kv_that_the_prior_dominates_is_flagged_where_it_is_shown():
    run = current()
    assert all("KV PRIOR-DOMINATED" in one.flags for one in run) and "62 sheets, all KV PRIOR-DOMINATED. " in below(glance(run))
    first, *others = run
    without = replace(first, flags=tuple(flag for flag in first.flags if flag != "KV PRIOR-DOMINATED"))
    some = below(glance(replace(run, inferences=(without, *others))))
    assert "KV PRIOR-DOMINATED" in some and "all KV" not in some
    assert "PRIOR-DOMINATED" not in glance(run, columns=["model", "active"])


def test_a_mark_stands_in_the_cell_it_qualifies_and_is_explained():
    found = {line.split()[0]: line.split() for line in sheets_of(glance(current()))}
    assert "20*" in found["claude-fable-5-2"] and "HBM/DDR" in found["claude-fable-5-2"], "a vendor's word"
    assert "32k+" in found["qwen3-coder-plus"] and "250?" in found["qwen3-coder-plus"] and "assumed" in found["qwen3-coder-plus"]
    assert found["MiniMax-M3"][10] == "21", "a verified architecture has no mark"
    assert found["gpt-6-astra"][4:6] == ["120^", "35-420"], "of a price that few open models ask"
    said = below(glance(current()))
    assert not [mark for mark, means in _MARKS.items() if f"{mark} {means}" not in said]


def test_nothing_explains_what_is_not_shown():
    prices = below(glance(current(), columns=["model", "price"]))
    assert not [word for word in ("held", "Held", *_MARKS.values(), "architecture") if word in prices]
    assert "extrapolated" in glance(current(), columns=["model", "active"])
    assert "architecture assumed" in glance(current(), columns=["model", "active"]), "the mark stands in a column that is not there"
    assert f"prices of {current().as_of}" in below(glance(current(), columns=["price", "model"])), "the head has no room for the day"
    run = current()
    stated, by_price = (tuple(one for one in run if one.size_stated is known) for known in (True, False))
    of_stated, of_price = (glance(replace(run, inferences=some)) for some in (stated, by_price))
    assert "38 of 42" not in of_stated and "stated" in of_stated and "38 of 42" in of_price and "stated" not in of_price
    given = infer("gemini-3.1-pro", anchors={"kv_bytes_per_token": "70kB"})
    assert "70 given" in glance(given) and "11 of 14" not in glance(given)


def test_below_columns_that_are_asked_for_stands_what_they_show_and_nothing_else():
    names = [column.name for column in _COLUMNS]
    for asked in ([*pair] for pair in product(names, names)):
        text, letters = glance(current(), columns=asked), _letters(current(), asked)
        marks = {mark for mark, means in _MARKS.items() if f"{mark} {means}" in below(text)}
        cells = [column_of(name).text(one) for name in asked if name in _MARKED_COLUMNS for one in current()]
        assert marks == {mark for mark in _MARKS if any(mark in cell for cell in cells)}, asked
        on_rows = {letter for row in _letters_of(current(), letters) for letter in row}
        assert on_rows == {*letters.values()} - {"all"} and all(f"{letter} " in below(text) for letter in on_rows), asked


@in_one_test(
    ("columns", "shown", "lacking"),
    [
        ("model", ("by b zhipu-bigmodel,", "c zai", "a off-peak"), ("CNY", "introductory", "context assumed", "architecture")),
        ("price", ("CNY", "introductory", "off-peak"), ("context assumed", "by ", "architecture", "KV")),
        ("model,price,active", ("CNY", "introductory", "by ", "architecture assumed", "extrapolated"), ("context assumed", "undated")),
        ("cache", ("context assumed", "CNY", "tiers held"), ("open models", "architecture")),
        ("model,provider", (), ("by ", "CNY", "context")), ("known", ("unsure",), ("CNY", "by ", "context assumed")),
        ("KV,model", ("all KV PRIOR-DOMINATED", "In the head: 90% held, open models."), ("CNY", "Held of")),
    ],
)  # fmt: skip
def test_a_flag_is_said_where_a_column_is_that_it_qualifies(columns: str, shown: tuple[str, ...], lacking: tuple[str, ...]):
    said = below(glance(current(), columns=columns.split(",")))
    assert not [words for words in shown if words not in said] and not [words for words in lacking if words in said], said


def test_a_service_tier_that_stands_behind_the_name_has_no_letter_beside_it():
    run = everything()
    words = ("batch", "fast", "; peak")
    named, nameless = below(glance(run)), below(glance(run, columns=["price"]))
    assert "(batch)" in glance(run) and not [word for word in words if word in named] and all(word[-4:] in nameless for word in words)


def test_a_column_that_is_asked_for_twice_is_shown_once():
    assert glance(current(), columns=["model", "MODEL", "price", "model"]) == glance(current(), columns=["model", "price"])


def test_a_longest_context_is_supposed_for_what_the_cache_is_priced_as_alone():
    """The others do not move with it, so nothing is to be said beside them."""
    short, long = (infer("glm-4.7", anchors={"max_context": tokens})[0] for tokens in ("64k", "2M"))
    moved = {column.name for column in _COLUMNS if column.text(short) != column.text(long)}
    assert moved == {"cache"}


def test_of_one_name_it_is_said_who_sells_it():
    both = infer("glm-5.1")
    assert [one.sheet.provider for one in both] == ["zai", "zhipu-bigmodel"]
    text = glance(both)
    assert "by b zhipu-bigmodel, c zai." in below(text) and "openai" not in glance(current())


def test_of_one_name_the_model_without_a_seller_is_that_of_its_only_maker():
    rows = {tuple(line.split()[:2]): line.split()[-1] for line in sheets_of(glance(current())) if line.startswith("deepseek-v4-pro ")}
    said = below(glance(current()))
    letters = dict(reversed(part.split()) for part in re.search(r"; by ([^.]+)\.", said)[1].split(", "))
    assert {*letters} == {"zai", "zhipu-bigmodel", "volcengine"}
    assert letters["volcengine"] in rows["deepseek-v4-pro", "1.29/3.86"] and not {*letters.values()} & {
        *rows["deepseek-v4-pro", "0.66/1.98"]
    }
    sellers = [one.sheet.provider for one in picked(current(), ["flag=by *"])]
    assert sorted(sellers) == ["volcengine", "volcengine", "zai", "zhipu-bigmodel"]


def test_columns_that_are_asked_for_are_shown_however_wide():
    text = glance(current(), 40, ["provider", "MODEL", "kv"])
    day = ["prices", "of", "2026-11-20"]
    assert [line.split() for line in text.splitlines()[:2]] == [[*day, "KV", "read,", "kB"], ["provider", "model", "and", "range"]]
    with pytest.raises(UnknownName, match="unknown column 'kvs'; allowed: model, price"):
        glance(current(), columns=["kvs"])


@in_one_test(
    ("wanted", "count"),
    [
        (["provider=openai"], 13), (["provider=openai, x-ai"], 18), (["model=GPT-6*"], 5), (["provider=openai", "model=*sol"], 3),
        (["flag=off*"], 2), (["tier=off_peak"], 2), (["cache=flash"], 8), (["currency=CNY"], 7), (["region=-"], 62),
        (["flag=off"], 2), (["flag=CNY"], 7), (["flag=cny, off*,"], 9), (["flag=by zai"], 1), (["flag=prior"], 62),
    ],
)  # fmt: skip
def test_sheets_are_picked_by_patterns(wanted: list[str], count: int):
    assert len(picked(current(), wanted)) == count


@in_one_test("letter", ["a", "b", "CNY, b", "1", "?"])
def test_a_letter_picks_nothing_since_it_depends_on_what_else_is_shown(letter: str):
    with pytest.raises(WrongValue, match=r"a letter means something else in every table; write its words, as in flag=introductory"):
        picked(current(), [f"flag={letter}"])


def test_the_words_beside_a_letter_pick_the_sheets_that_carry_it():
    letters = _letters(current(), SHOWN_COLUMNS)
    of_rows = _letters_of(current(), letters)
    for words, letter in letters.items():
        if letter != "all":
            assert picked(current(), [f"flag={words}"]) == [one for one, row in zip(current(), of_rows, strict=True) if letter in row]


@pytest.mark.parametrize(
    ("word", "flag"), [("undated", "release not known"), ("unsure", "weights may not"), ("extrapolated", "size extra")]
)
def test_what_a_mark_is_called_below_the_table_picks_the_sheets_that_have_it(word: str, flag: str):
    found = picked(current(), [f"flag={word}"])
    assert found and found == picked(current(), [f"flag={flag}"])
    assert word in glance(current())


@in_one_test(
    ("wanted", "said"),
    [
        (["flag=zzz"], "no sheet matches --where flag=zzz; there are: .*priced in CNY"),
        (["provider=opnai"], "no sheet matches --where provider=opnai; did you mean 'openai'"),
        (["currency=CNY", "flag=introductory"], "no sheet matches --where flag=introductory; .*priced in CNY"),
        (["currency=EUR"], "allowed: CNY, USD"),
        (["model=zzzzzz"], r"there are: .*, \.\.\."),
    ],
)
def test_where_nothing_matches_it_says_what_there_is(wanted: list[str], said: str):
    with pytest.raises(WrongValue, match=said):
        picked(current(), wanted)


@in_one_test(("wanted", "said"), [("provider", "write provider=PATTERN"), ("provider=", "write provider=PATTERN")])
def test_a_pattern_that_is_none_is_refused(wanted: str, said: str):
    with pytest.raises(WrongValue, match=said):
        picked(current(), [wanted])
    with pytest.raises(UnknownName, match="did you mean 'provider'"):
        picked(current(), ["providr=x"])
    assert {"provider", "model", "flag"} <= {*OF_TEXT}


def test_a_size_that_no_range_holds_and_kv_that_is_given():
    (one,) = infer("gemini-3.1-pro", anchors={"kv_bytes_per_token": "70kB", "active_params": "60B"})
    (line,) = sheets_of(glance(replace(current(), inferences=(one,))).replace("1 sheet.", f"{len(current())} sheets."))
    assert line.split()[4:11] == ["60", "given", "30", "20-45", "70", "given", "-"]


def test_a_market_of_long_names_fits_a_page():
    """Where many models have several sellers, who sells one stands with its name, as `infer` takes it."""
    first, second, *others = current()
    sold = [
        replace(one, sheet=replace(one.sheet, provider=by, model=f"{one.sheet.model}-{'of-a-long-name-' * 2}"))
        for by in ("a-seller-with-a-long-name", "b")
        for one in (first, second, *others[:6])
    ]
    text = glance(replace(current(), inferences=tuple(sold)))
    assert max(map(len, text.splitlines())) <= 100 and "provider/model" in text.splitlines()[1]
    assert f"\na-seller-with-a-long-name/{sold[0].sheet.model}\n " in text and "; by " not in below(text)
    longest = [replace(one, sheet=replace(one.sheet, model=f"{one.sheet.model}-{'m' * 9}")) for one in sold]
    text = glance(replace(current(), inferences=tuple(longest)))
    assert max(map(len, text.splitlines())) <= 100 and "KV read" in text and "--wide." in below(text)


def test_columns_stand_under_each_other_whatever_letters_a_name_has():
    first, *others = current()
    wide = replace(first, sheet=replace(first.sheet, model="通义千问3-max"))
    text = glance(replace(current(), inferences=(wide, *others)))
    (line,), (other,) = ([line for line in text.splitlines() if line.startswith(name)] for name in ("通义千问3-max ", "gpt-6.1-terra "))
    before = [width_of(row.partition(price)[0]) for row, price in ((line, _prices(wide)), (other, "1/5"))]
    assert before[0] == before[1]


@in_one_test(("width", "length"), product([60, 80, 100, 120], [40, 104, 240]))
def test_one_long_name_takes_no_column_from_anybody(width: int, length: int):
    first, *others = current()
    called = "acme-" * (length // 5)
    long = replace(first, sheet=replace(first.sheet, model=called), flags=(*first.flags, "flagged"))
    run = replace(current(), inferences=(long, *others))
    lines = glance(run, width).splitlines()
    said, without = below(glance(run, width)), below(glance(current(), width))
    assert max(map(len, lines)) <= width and re.search(r"--wide[^.]*", said)[0] == re.search(r"--wide[^.]*", without)[0]
    place = next(place for place, line in enumerate(lines) if line.startswith("acme-"))
    end = place + -(-len(called) // width)
    assert "".join(lines[place:end]) == called and lines[end].startswith(" " * 22)
    assert re.search(r"\b(\w) flagged", said)[1] in lines[end].split()[-1]


def test_a_long_name_has_the_room_that_the_others_leave():
    first, *others = current()
    long = replace(first, sheet=replace(first.sheet, model="a" * 45))
    text = glance(replace(current(), inferences=(long, *others)), 140)
    (line,) = [line for line in text.splitlines() if line.startswith("a" * 45)]
    assert _prices(long) in line
    (alone,) = [line for line in glance(replace(current(), inferences=(long,)), 100, ["model", "price"]).splitlines() if "a" * 45 in line]
    assert _prices(long) in alone
