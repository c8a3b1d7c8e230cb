"""Commands that reports name are safe to paste, and ask the same again."""

import shlex
from dataclasses import replace
from datetime import date
from pathlib import Path

from invert.inference import infer
from invert.report.commands import cite_sheet, infer_all, infer_in_full
from invert.report.layout import laid_out
from invert.report.sheet import full_parts
from invert.report.short import short_parts
from tests.tools.commands import GOOD, call, price_file
from tests.tools.inferred import current


def test_a_plain_command_is_as_one_types_it():
    run = current()
    one = run["openai/gpt-6-sol"]
    assert infer_in_full(one, run) == "backsolve infer openai/gpt-6-sol --full"
    assert cite_sheet(one, run, ("bands.price",)) == "backsolve cite openai/gpt-6-sol bands.price"
    assert infer_all(run) == "backsolve infer --all"


def test_what_a_file_calls_a_model_is_one_word_for_a_shell():
    run = current()
    one = replace(run["openai/gpt-6-sol"], sheet=replace(run["openai/gpt-6-sol"].sheet, provider="acme", model="a;touch /tmp/x $(b) 'c'"))
    for said in (infer_in_full(one, run), cite_sheet(one, run, ())):
        assert "acme/a;touch /tmp/x $(b) 'c'" in shlex.split(said)
    for text in (laid_out(short_parts(one, run), 60), laid_out(full_parts(one, run), 60)):
        (begin,) = (place for place, line in enumerate(text.splitlines()) if line.startswith("Cite  "))
        joined = "\n".join(text.splitlines()[begin:]).replace(" \\\n", "")
        assert shlex.split(joined)[:4] == ["Cite", "backsolve", "cite", "acme/a;touch /tmp/x $(b) 'c'"]


def test_it_names_the_prices_the_day_and_all_that_was_given(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my prices.csv").write_bytes(price_file(*GOOD))
    asked = ("--prices", "my prices.csv", "--as-of", "2026-11-20", "--anchor", "active_params=60000000000", "--set", "output=+10%")
    day, anchors, changes = date(2026, 11, 20), {"active_params": "60B"}, {"output": "+10%"}
    changed = infer("other/n", prices="my prices.csv", as_of=day, anchors=anchors, changes=changes)
    words = shlex.split(infer_in_full(changed[0], changed))[1:]
    assert words == ["infer", "other/n", *asked, "--full"] and call(*words).status == 0
    run = infer("other/n", prices="my prices.csv")
    assert infer_all(run) == "backsolve infer --prices 'my prices.csv' --all"
    cited = shlex.split(cite_sheet(run[0], run, ("bands.price",)))[1:]
    assert cited == ["cite", "other/n", "bands.price", "--prices", "my prices.csv"] and call(*cited).status == 0
