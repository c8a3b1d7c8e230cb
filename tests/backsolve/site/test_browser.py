"""Pages in a browser, from disk: their scripts run under their own policy without a complaint, and forms answer what Python does."""

import re
from collections.abc import Iterator
from pathlib import Path
from shlex import split
from urllib.parse import parse_qsl, urlsplit

import pytest
from click.testing import CliRunner

from backsolve.cli.main import backsolve
from backsolve.site import build
from backsolve.site.build import build_site
from backsolve.site.desk import desk_page
from backsolve.site.equations import equation_address, equation_page
from backsolve.site.home import home_page
from backsolve.site.presets import FIELDS
from backsolve.site.sheets import pages_of_sheets
from backsolve.site.what_if import what_if
from derive import solve
from derive.answers import OR
from derive.catalogue import equation
from derive.presets import rent
from derive.show.roofline import known_numbers, roof
from derive.show.text import render
from derive.units import show
from invert.data import read_data
from invert.inference import infer
from tests.backsolve.site.test_what_if import worked_out
from tests.tools.browser import missing, opened, watched

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=f"{missing()} is not here")]

CLOSED, SEARCHED = equation("batching.balance_batch"), equation("roofline.minimum_latency")
"""An equation of closed forms, and one with an unknown that is searched for."""
STEP = equation("roofline.step_time")
"""One of quantities that no chip and no model sets, but other equations make of what they set."""


MARGIN = equation("serving.gross_margin")
"""One with a difference."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = infer(["gemini-3.1-pro"])
    pages = [
        home_page(),
        desk_page(),
        *(equation_page(row, []) for row in (CLOSED, SEARCHED, STEP, MARGIN)),
        *pages_of_sheets(table, read_data()),
    ]
    out = tmp_path_factory.mktemp("browser") / "site"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "all_pages", lambda _html_base: iter(pages))
        build_site(str(out))
    return out


@pytest.fixture(scope="module")
def browser() -> Iterator:
    with opened() as one:
        yield one


@pytest.fixture
def page(browser) -> Iterator:
    """A page that has complained of nothing when the test is done."""
    faults: list[str] = []
    context = browser.new_context(reduced_motion="reduce")
    yield watched(context, faults)
    context.close()
    assert faults == []


def in_address(page, name: str, above: float) -> dict[str, str]:
    """The state that the page writes into its address, once a quantity there is above a number."""
    page.wait_for_function("([name, above]) => Number(new URLSearchParams(location.hash.slice(1)).get(name)) > above", arg=[name, above])
    return dict(parse_qsl(urlsplit(page.url).fragment))


def test_scripts_run_from_disk_under_the_policy(site: Path, page):
    file = site / equation_address(CLOSED.id)
    written = file.read_text(encoding="utf-8")
    page.goto(file.as_uri())
    assert 'role="search" hidden' in written and page.get_by_role("searchbox").is_visible()
    assert "<button" not in written and page.get_by_role("button", name="Copy Plain text").is_visible()
    page.get_by_role("searchbox").fill("balance")
    page.get_by_role("search").get_by_role("link", name="Balance batch").first.wait_for()


@pytest.mark.parametrize(
    ("row", "unknown", "name", "typed"),
    [(CLOSED, "balance_batch", "sparsity", "12"), (SEARCHED, "layers", "allreduces_per_layer", "3")],
)
def test_an_equation_is_solved_as_numbers_change(site: Path, page, row, unknown: str, name: str, typed: str):
    page.goto((site / equation_address(row.id)).as_uri())
    page.get_by_label("Solve for", exact=True).select_option(unknown)
    told = page.locator(".solver-answer strong span").first
    number, slider = (page.get_by_label(f"{name.replace('_', ' ')}{more}", exact=True) for more in ("", ", slider"))
    number.fill(typed)
    before = told.inner_text()
    slider.press("ArrowRight")
    asked = in_address(page, name, float(typed))
    assert told.inner_text() != before
    given = {symbol: float(asked[symbol]) for symbol in row.symbols if symbol != unknown}
    (answer,) = solve(unknown, given=given, using=[row.id]).answers
    assert told.inner_text() == f"= {show(unknown, answer.point)}{OR[answer.bound]}"
    command = page.locator("#solver > p code").inner_text()
    said = CliRunner().invoke(backsolve, split(command)[1:])
    assert said.exit_code == 0 and split(command)[0] == "backsolve" and "\\begin{gather*}" in said.stdout
    number.fill("-1")
    assert "must be" in page.get_by_role("alert").filter(has_text="must").inner_text()


def test_a_chip_and_a_model_lead_to_the_quantities_of_an_equation(site: Path, page):
    page.goto((site / equation_address(STEP.id)).as_uri())
    page.get_by_label("Chip", exact=True).select_option("H100-SXM:fp8")
    assert "Choose a model too" in page.locator(".solver-led").inner_text()
    page.get_by_label("Model", exact=True).select_option("DeepSeek-V3")
    page.get_by_label("batch", exact=True).fill("200")
    given = FIELDS | {"batch": 200.0}
    solved = solve("step_time", hardware="H100-SXM:fp8", model="DeepSeek-V3", given=given)
    told = page.locator(".solver-answer strong span").first
    assert told.inner_text() == f"= {show('step_time', solved.value)} or more"
    under = roof("", known_numbers(solved))
    assert under
    page.locator("figcaption").get_by_text(f"attains {show('peak_flops', under.rate)} on each chip").wait_for()
    asked = in_address(page, "batch", 199)
    assert (asked["hardware"], asked["model"]) == ("H100-SXM:fp8", "DeepSeek-V3")
    page.goto("about:blank")
    page.goto(f"{(site / equation_address(STEP.id)).as_uri()}#hardware=H100-SXM:fp8&model=DeepSeek-V3&batch=200")
    assert told.inner_text() == f"= {show('step_time', solved.value)} or more"
    page.get_by_label("memory time", exact=True).fill("9")
    assert page.get_by_label("Model", exact=True).input_value() == "" and page.locator(".solver-led").is_hidden()


def test_a_field_takes_a_range_and_the_answer_spans_it(site: Path, page):
    page.goto((site / equation_address(CLOSED.id)).as_uri())
    page.get_by_label("sparsity", exact=True).fill("8..18")
    page.get_by_text("ends exact").wait_for()
    asked = in_address(page, "machine_balance_ratio", 1)
    given = {symbol: asked[symbol] for symbol in CLOSED.symbols[1:]}
    assert given["sparsity"] == "8..18"
    spans = solve("balance_batch", given=given, using=[CLOSED.id]).spans
    assert spans
    told = page.locator(".solver-answer strong")
    assert told.inner_text().endswith(f"between {show('balance_batch', spans.low)} and {show('balance_batch', spans.high)}")
    assert page.locator(".solver-picture .solver-band").count() == 1
    command = page.locator("#solver > p code").inner_text()
    assert "'sparsity=8..18'" in command and CliRunner().invoke(backsolve, split(command)[1:]).exit_code == 0
    page.goto("about:blank")
    page.goto(f"{(site / equation_address(CLOSED.id)).as_uri()}#sparsity=8..18")
    assert page.get_by_label("sparsity", exact=True).input_value() == "8..18"
    page.get_by_label("sparsity, slider").press("ArrowRight")
    assert "between" not in told.inner_text()


def test_what_is_looked_for_of_a_range_is_forgotten_where_the_range_is_gone(site: Path, page):
    """Before, what came late stood in place of the fault."""
    page.goto((site / equation_address(CLOSED.id)).as_uri())
    field = page.get_by_label("sparsity", exact=True)
    field.fill("16..64")
    field.fill("")
    page.wait_for_timeout(1000)
    assert page.locator("output.solver-answer").inner_text() == "No answer: sparsity cannot be used as it stands."


def test_the_derivation_is_copied_with_its_numbers(site: Path, page):
    page.goto(f"{(site / equation_address(CLOSED.id)).as_uri()}#hardware=H100-SXM:fp8&model=DeepSeek-V3&mfu=1&mbu=1")
    python = solve("balance_batch", hardware="H100-SXM:fp8", model="DeepSeek-V3")
    shown = page.locator("#solver pre")
    page.get_by_role("button", name="Copy as LaTeX").click()
    mine, theirs = shown.inner_text(), render(python, "latex")
    cited = r"\\cite\{[^}]*\}"
    assert re.findall(cited, mine) == re.findall(cited, theirs) and "= 5357" in mine
    assert [*re.findall(r"^.*tag.*$", mine, re.MULTILINE)] == [*re.findall(r"^.*tag.*$", theirs, re.MULTILINE)]
    page.get_by_role("button", name="Copy as Markdown").click()
    assert "`batching.sparsity@1`:" in shown.inner_text()
    page.get_by_role("button", name="Copy as text").click()
    assert "balance_batch = 295.4*1*18.14/1 = 5357" in shown.inner_text()


@pytest.mark.parametrize(
    ("row", "unknown"),
    [(CLOSED, "sparsity"), (STEP, "step_time"), (STEP, "memory_time"), (MARGIN, "gross_margin")],
)
def test_what_is_copied_as_latex_is_what_the_command_prints(site: Path, page, row, unknown: str):
    page.goto(f"{(site / equation_address(row.id)).as_uri()}#for={unknown}")
    page.get_by_role("button", name="Copy as LaTeX").click()
    said = CliRunner().invoke(backsolve, split(page.locator("#solver > p code").inner_text())[1:])
    assert page.locator("#solver pre").inner_text() == said.stdout.rstrip("\n")
    drawn = page.locator(".solver-formula").inner_text()
    assert "−" not in drawn.split("=")[1][:2], "what is taken away stands behind"


def test_where_a_step_balances_its_point_is_under_the_ridge(site: Path, page):
    page.goto(f"{(site / equation_address(CLOSED.id)).as_uri()}#hardware=H100-SXM:fp8&model=DeepSeek-V3&context_length=1")
    batch = solve("balance_batch", hardware="H100-SXM:fp8", model="DeepSeek-V3", mfu=0.5, mbu=0.7)
    page.locator("figcaption").get_by_text(f"at batch = {show('batch', batch.value)}, the step attains 989.5 TFLOP/s").wait_for()


def test_a_deployment_is_sized(site: Path, page):
    page.goto((site / "desk/index.html").as_uri())
    page.get_by_label("Chip", exact=True).select_option("B200-SXM:fp8")
    page.get_by_label("Model", exact=True).select_option("Llama-3.1-70B")
    page.get_by_label("batch", exact=True).fill("200")
    page.get_by_label("context length, slider").press("ArrowRight")
    asked = in_address(page, "context_length", FIELDS["context_length"])
    given = {name: float(asked[name]) for name in FIELDS}
    assert given["batch"] == 200
    solved = {}
    for name, title in (("step_time", "a step takes"), ("cost_per_token", "a token costs")):
        solved[name] = solve(name, hardware="B200-SXM:fp8", model="Llama-3.1-70B", given=given, anyway=True)
        shown = page.locator(".desk-fact").filter(has_text=title).locator("strong").inner_text()
        assert shown == f"{show(name, solved[name].value)} or more"
    page.get_by_label("batch", exact=True).fill("900000")
    assert page.locator("output").inner_text().startswith("It does not fit")
    weights = [one.evaluate("one => getComputedStyle(one).fontWeight") for one in page.locator(".desk-fact strong").all()]
    assert [int(one) > 500 for one in weights] == [True, False, False, False, False]
    page.get_by_text("--anyway").wait_for()
    assert CliRunner().invoke(backsolve, split(page.locator("#desk > p code").inner_text())[1:]).exit_code == 0
    most = int(re.findall(r"chips, or a batch of (\d+)", page.locator("output").inner_text())[0])
    page.get_by_label("batch", exact=True).fill(str(most))
    assert f"a batch of {most} still fits" in page.locator("output").inner_text()
    page.get_by_label("batch", exact=True).fill("200")
    under = roof("", known_numbers(solved["step_time"]))
    assert under
    page.locator("figcaption").get_by_text(f"attains {show('peak_flops', under.rate)} on each chip").wait_for()


def test_a_price_is_that_of_the_chip_until_one_is_typed(site: Path, page):
    page.goto((site / "desk/index.html").as_uri())
    price, chip = (page.get_by_label(label, exact=True) for label in ("price of a chip", "Chip"))
    rented = {name: f"{rent(name).givens['chip_price'] * 3600:.6g}" for name in ("H100-SXM", "B200-SXM")}
    assert price.input_value() == rented["H100-SXM"]
    for name, shown, said in (("B200-SXM:fp8", rented["B200-SXM"], ""), ("Rubin-VR200:fp4", "", "has no rent of Rubin-VR200")):
        chip.select_option(name)
        told = page.locator("output").inner_text()
        assert price.input_value() == shown and said in told and ("a token costs" in told.splitlines()) == bool(shown)
    price.fill("5")
    chip.select_option("H100-SXM:fp8")
    assert price.input_value() == "5" and "a token costs" in page.locator("output").inner_text()
    price.fill("")
    page.wait_for_url("**chip_price=&**")
    page.reload()
    assert price.input_value() == "" and "a token costs" not in page.locator("output").inner_text().splitlines()
    chip.select_option("B200-SXM:fp8")
    assert price.input_value() == rented["B200-SXM"]


@pytest.mark.parametrize(
    ("address", "lost"),
    [
        ("desk/index.html#model=<b>none</b>&batch=-1&chips=32", "model=<b>none</b>, batch=-1"),
        (f"{equation_address(CLOSED.id)}#for=batch&mfu=2&sparsity=12&colour=red", "mfu=2, for=batch, colour=red"),
        (f"desk/index.html#constructor=1&{'a' * 5000}={'1' * 5000}", f"constructor=1, {'a' * 40}={'1' * 40}"),
    ],
)
def test_a_link_that_asks_for_what_cannot_be_says_so(site: Path, page, address: str, lost: str):
    page.goto(f"{site.as_uri()}/{address}")
    said = page.get_by_role("alert").filter(has_text="link")
    assert said.inner_text() == f"The link asks for what cannot be: {lost}. What is usual stands in its place."
    page.get_by_label("slider").first.press("ArrowRight")
    assert page.get_by_text("cannot be").count() == 0


def test_a_sheet_is_read_at_other_prices(site: Path, page):
    one = infer(["gemini-3.1-pro"])[0]
    page.goto((site / f"sheet/{one.sheet.provider}/{one.sheet.model}/index.html").as_uri())
    output = page.get_by_label("output price [USD/MTok]", exact=True)
    output.fill("14e-6 USD/token")
    published = {field["name"]: field["usd_per_token"] for field in what_if(one)["fields"]}
    words, value = next(iter(worked_out(what_if(one), published | {"output": 14e-6}).items()))
    told = page.get_by_role("row", name=words).locator("td").last
    assert told.inner_text() == f"{value:.3g}"
    assert in_address(page, "output", 13) == {"output": "14"}
    page.reload()
    assert output.input_value() == "14" and told.inner_text() == f"{value:.3g}"
    place = page.locator("#what-if").bounding_box()
    assert place and page.viewport_size and 0 <= place["y"] < page.viewport_size["height"]
    output.fill("-1")
    assert "output price = -1e-06: must be > 0" in page.get_by_role("alert").all_inner_texts()
    page.goto(page.url.split("#")[0] + "#output=-2&input=3&storage=1")
    assert page.get_by_role("alert").filter(has_text="The link asks for what cannot be: output=-2, storage=1.").count() == 1
    assert page.get_by_label("input price [USD/MTok]", exact=True).input_value() == "3"
    page.get_by_role("button", name="As published").click()
    assert output.input_value() == "12"


@pytest.mark.parametrize("width", [390, 1100, 1280])
def test_the_text_of_a_chart_is_no_larger_than_that_of_the_page(site: Path, page, width: int):
    one = infer(["gemini-3.1-pro"])[0]
    page.set_viewport_size({"width": width, "height": 900})
    page.goto((site / f"sheet/{one.sheet.provider}/{one.sheet.model}/index.html").as_uri())
    drawn = "all => all.map(one => parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a)"
    read = page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)")
    sizes = page.locator("svg.chart text").evaluate_all(drawn)
    assert sizes and max(sizes) <= read + 1e-3


def test_what_is_folded_opens_where_a_link_leads_there_and_on_paper(site: Path, page):
    one = infer(["gemini-3.1-pro"])[0]
    page.goto(f"{(site / f'sheet/{one.sheet.provider}/{one.sheet.model}/index.html').as_uri()}#rows")
    folded, open_ones = page.locator("details.fold"), page.locator("details.fold[open]")
    assert open_ones.count() == 1 < folded.count() and page.locator("#rows").get_by_role("table").is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert open_ones.count() == folded.count()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert open_ones.count() == 1
