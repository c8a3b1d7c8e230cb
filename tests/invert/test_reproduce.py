"""A saved result asked again: the same bytes, what has changed since, and files that are none."""

import json
from collections.abc import Callable
from datetime import date
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from derive.errors import WrongData
from derive.files import LARGEST_RESULT
from derive.tables import shipped
from invert.inference import infer
from invert.report.contract import saved
from invert.reproduce import arguments, changed_since, differing, saved_run
from invert.result import Shown
from invert.sheets.rows import FileText
from tests.tools.tables import reading
from tests.tools.together import in_one_test

OWN = b"\xef\xbb\xbfprovider,model,component,amount,notes\r\nacme,m,input,1,\r\nacme,m,output,4,\xc3\xa9"
"""With a mark of its encoding, other ends of lines, a letter of two bytes and no last end of line."""

SCORES = b"model,benchmark,variant,accuracy,refusals,date,source,grade\nclaude-opus-5-5,IKP,x,0.8,,2026-11-01,me,independent\n"


@cache
def document() -> str:
    return saved(infer("o3"))


def kept(path: Path, text: str | bytes) -> str:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


@pytest.mark.slow
@in_one_test(
    "asked",
    [
        {"names": "o3"},
        {"names": ["gpt-5.[24]", "gemini-3.1-pro"], "as_of": date(2026, 3, 4)},
        {"provider": ["google", "openai"], "tier": "batch"},
        {"provider": "deepseek", "everything": True},
        {"names": "gemini-3.1-pro", "anchors": {"overlap": 0, "active_params": "60B"}, "changes": {"output": "+10%", "cache_storage": "0"}},
        {"names": "acme/m", "prices": ["provider,model,component,amount", "acme,m,input,1", "acme,m,output,4"]},
        {"names": "acme/m", "prices": FileText("own.csv", OWN)},
        {"names": "claude-opus-5-5", "knowledge": FileText("scores.csv", SCORES)},
    ],
)  # fmt: skip
def test_what_was_saved_is_what_is_found_again_and_saved_again(tmp_path_factory: pytest.TempPathFactory, asked: dict[str, Any]):
    text = saved(infer(**asked))
    run = saved_run(kept(tmp_path_factory.mktemp("saved") / "r.json", text))
    assert changed_since(run) == ""
    assert saved(infer(**arguments(run)), run.shown) == text


def test_a_file_with_the_names_of_an_earlier_release_is_read(tmp_path):
    old = document().replace('"kv_replication"', '"kv_copies"').replace('"knowledge": null,', "")
    assert old != document() and differing(saved_run(kept(tmp_path / "r.json", old)), infer("o3")) == []
    assert changed_since(saved_run(kept(tmp_path / "r.json", old))) == ""


def test_what_was_shown_and_the_file_it_was_held_against_are_kept(tmp_path):
    shown = Shown(style="csv", columns="model", by="-model", wanted=("tier=s*",), against=FileText("old.csv", OWN))
    run = saved_run(kept(tmp_path / "r.json", saved(infer("o3"), shown)))
    assert run.shown == shown
    for against in ("shipped", "2026-03-12"):
        assert saved_run(kept(tmp_path / "r.json", saved(infer("o3"), Shown(against=against)))).shown == Shown(against=against)


def test_what_has_changed_since_is_said_in_a_line(tmp_path, monkeypatch: pytest.MonkeyPatch):
    run = saved_run(kept(tmp_path / "r.json", document()))
    tables = shipped.read()
    with reading(tables.edited(fx=tables.content("fx.csv").decode() + "\n")):
        then, now = (sha256(content).hexdigest()[:8] for content in (tables.content("fx.csv"), tables.content("fx.csv") + b"\n"))
        assert changed_since(run).endswith(f"r.json: was made with other inputs: fx.csv, {then} -> {now}")
    with reading(shipped.Tables({name: content for name, content in tables.files.items() if name not in ("claims.csv", "problems.csv")})):
        assert changed_since(run).endswith(" -> none; problems.csv, " + run.made.tables["problems.csv"][:8] + " -> none")
    with reading(shipped.Tables(dict.fromkeys(tables.files, b""))):
        assert changed_since(run).endswith(f"; {len(tables.files) - 5} more like these") and "fx.csv, models.csv" not in changed_since(run)
    for module in ("numpy", "scipy"):
        monkeypatch.setattr(f"{module}.__version__", "9.9")
    with reading(tables.edited(fx=tables.content("fx.csv").decode() + "\n\n")):
        assert "; numpy, " in changed_since(run) and " -> 9.9; scipy, " in changed_since(run)


def test_an_answer_that_is_another_than_that_of_the_file_does_not_reproduce_and_one_that_is_the_same_does(tmp_path):
    run, tables = saved_run(kept(tmp_path / "r.json", document())), shipped.read()
    dearer = (
        tables.content("prices.csv").decode().replace("openai,o3,,standard,input,0,false,,,,2,", "openai,o3,,standard,input,0,false,,,,3,")
    )
    for changed, same in (({"fx": tables.content("fx.csv").decode() + "\n"}, True), ({"prices": dearer}, False)):
        with reading(tables.edited(**changed)):
            assert changed_since(run) and (differing(run, infer(**arguments(run))) == []) is same
    edited = json.loads(document())
    edited["sheets"][0]["estimates"]["active_params"]["by_price"]["median"] *= 2
    del edited["sheets"][0]["flags"]
    others = differing(saved_run(kept(tmp_path / "e.json", json.dumps(edited))), infer("o3"))
    assert others == ["sheets[0].estimates.active_params.by_price.median", "sheets[0].flags"]


def spoiled(change: Callable[[dict[str, Any]], object]) -> Callable[[], bytes]:
    """A saved result with one thing in it that is not as it should be; it is made when it is tried."""

    def made_of_it() -> bytes:
        changed = json.loads(document())
        change(changed)
        return json.dumps(changed).encode()

    return made_of_it


def asking(name: str, value: object) -> Callable[[], bytes]:
    return spoiled(lambda found: found["run"]["asked"].update({name: value}))


PASSWORDS = "/etc/passwd"
FILE = {"place": "a.csv", "encoding": "utf-8", "content": "a"}


@in_one_test(
    ("content", "why"),
    [
        (b"", "is not JSON ("),
        (b"[" * 200_000, "is not JSON ("),
        (b'{"schema": NaN}', "is not JSON ("),
        (b"[]", "--as json"),
        (b'{"schema": {}}', "no schema"),
        (b'{"schema": "infer-1", "run": {}}', "its schema is 'infer-1'"),
        (b'{"schema": "infer-2"}', "lacks run"),
        (b'{"schema": "infer-2", "run": []}', "run is a list, but must be an object"),
        (spoiled(lambda found: found["run"].pop("asked")), "lacks run.asked"),
        (spoiled(lambda found: found["run"]["asked"].pop("prices")), "lacks run.asked.prices"),
        (spoiled(lambda found: found["run"].update(as_of="yesterday")), "run.as_of is 'yesterday', but must be a day"),
        (spoiled(lambda found: found["run"].update(changes={"output": 20})), "run.changes.output is 20, but must be a text"),
        (spoiled(lambda found: found["run"].update(changes={"output\x1b": "20"})), "run.changes has characters that do not print"),
        (spoiled(lambda found: found["run"]["assumptions"].update(given=["overlap"], overlap=True)),
         "run.assumptions.overlap is true, but must be a number"),
        (spoiled(lambda found: found["run"]["assumptions"].update(given=["overlap"], overlap=10**400)),
         "run.assumptions.overlap is too large"),
        (asking("models", "o3"), "run.asked.models is 'o3', but must be a list"),
        (asking("models", ["o3"] * 5000), "run.asked.models has 5,000 entries"),
        (asking("models", ["o3\n"]), "run.asked.models[0] has characters that do not print"),
        (asking("day_given", 1), "run.asked.day_given is 1, but must be true or false"),
        (asking("against", PASSWORDS), "run.asked.against is '/etc/passwd', but must be a day"),
        (asking("prices", PASSWORDS), "run.asked.prices is '/etc/passwd', but must be an object or null"),
        (asking("prices", FILE | {"place": "a\nb"}), "run.asked.prices is an object, but must be a file"),
        (asking("prices", FILE | {"encoding": "rot13"}), "run.asked.prices is an object, but must be a file"),
        (asking("prices", FILE | {"encoding": "base64", "content": "%"}), "run.asked.prices is an object, but must be a file"),
        (asking("prices", FILE | {"content": "\ud800"}), "run.asked.prices is an object, but must be a file"),
    ],
)  # fmt: skip
def test_what_is_no_saved_result_is_refused_in_a_line(
    tmp_path_factory: pytest.TempPathFactory, content: bytes | Callable[[], bytes], why: str
):
    text = content if isinstance(content, bytes) else content()
    with pytest.raises(WrongData) as refused:
        saved_run(kept(tmp_path_factory.mktemp("spoiled") / "r.json", text))
    said = str(refused.value)
    what = why if why.startswith("is not JSON") else "is not a saved result that can be repeated ("
    assert f"r.json: {what}" in said and why in said and "\n" not in said


def test_a_file_of_any_size_is_not_read(tmp_path):
    with open(tmp_path / "large", "wb") as large:
        large.truncate(LARGEST_RESULT + 1)
    for place, why in ((tmp_path / "large", "larger than 64 MiB"), (tmp_path, "not a file"), (tmp_path / "none", "No such file")):
        with pytest.raises(WrongData, match=why):
            saved_run(str(place))
