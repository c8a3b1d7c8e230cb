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
from backsolve.site.market import market_page
from backsolve.site.presets import FIELDS, SUSTAINED
from backsolve.site.sheets import pages_of_sheets
from backsolve.site.what_if import what_if
from campaigns.browser import missing, opened, watched
from derive import solve
from derive.answers import OR
from derive.catalogue import equation
from derive.presets import rent
from derive.show.plot import known_numbers, roof
from derive.units import show
from invert.inference import infer
from tests.backsolve.site.test_what_if import worked_out

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
        *(equation_page(row.id) for row in (CLOSED, SEARCHED, STEP, MARGIN)),
        market_page(table),
        *pages_of_sheets(table),
    ]
    out = tmp_path_factory.mktemp("browser") / "site"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "STAGES", {"pages": lambda: pages})
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


def in_address(page, name: str) -> dict[str, str]:
    """The state in the address of the page, once a name is there."""
    page.wait_for_function("(name) => new URLSearchParams(location.hash.slice(1)).has(name)", arg=name)
    return dict(parse_qsl(urlsplit(page.url).fragment))


def values_in(row, page, command: str = "#solver > p code") -> dict[str, str]:
    """The givens of the command that the page shows."""
    return dict(word.split("=", 1) for word in split(page.locator(command).inner_text()) if "=" in word)


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
    assert {*in_address(page, name)} <= {name, "for"}, "only what differs is in the address"
    assert told.inner_text() != before
    (answer,) = solve(unknown, given=values_in(row, page), using=[row.id]).answers
    assert told.inner_text() == f"= {show(unknown, answer.point)}{OR[answer.bound]}"
    command = page.locator("#solver > p code").inner_text()
    said = CliRunner().invoke(backsolve, split(command)[1:])
    assert said.exit_code == 0 and split(command)[0] == "backsolve" and "\\begin{gather*}" in said.stdout
    number.fill("-1")
    assert "must be" in page.get_by_role("alert").filter(has_text="must").inner_text()


def test_a_chip_and_a_model_lead_to_the_quantities_of_an_equation(site: Path, page):
    page.goto((site / equation_address(STEP.id)).as_uri())
    page.get_by_label("Chip", exact=True).select_option("H100-SXM:fp8")
    page.get_by_label("Model", exact=True).select_option("DeepSeek-V3")
    solved = solve("step_time", hardware="H100-SXM:fp8", model="DeepSeek-V3", given=FIELDS)
    told = page.locator(".solver-answer strong span").first
    assert told.inner_text() == f"= {show('step_time', solved.value)} or more"
    assert in_address(page, "model") == {"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3"}
    page.goto("about:blank")
    page.goto(f"{(site / equation_address(STEP.id)).as_uri()}#hardware=H100-SXM:fp8&model=DeepSeek-V3")
    assert told.inner_text() == f"= {show('step_time', solved.value)} or more"
    page.get_by_label("memory time", exact=True).fill("9")
    assert page.get_by_label("Model", exact=True).input_value() == ""


def test_the_page_and_the_command_have_one_default_and_one_switch(site: Path, page):
    page.goto(f"{(site / equation_address(CLOSED.id)).as_uri()}#hardware=H100-SXM:fp8&model=DeepSeek-V3")
    told = page.locator(".solver-answer strong span").first
    asked = {"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3"}
    assert told.inner_text() == f"= {show('balance_batch', solve('balance_batch', **asked).value)}"
    page.get_by_role("button", name="sustained rates").click()
    assert told.inner_text() == f"= {show('balance_batch', solve('balance_batch', **asked, given=SUSTAINED).value)}"


def test_opening_a_page_leaves_its_address_alone_and_a_claim_is_a_state_of_it(site: Path, page):
    address = f"{(site / equation_address(CLOSED.id)).as_uri()}#step-1"
    page.goto(address)
    page.wait_for_timeout(400)
    assert page.url == address
    page.get_by_label("sparsity", exact=True).fill("12")
    in_address(page, "sparsity")
    page.get_by_role("link", name="balance batch at 300 and a sparsity of 8").click()
    page.locator(".solver-answer strong span", has_text="= 2400").first.wait_for()


@pytest.mark.parametrize(
    ("row", "unknown"),
    [(CLOSED, "sparsity"), (STEP, "step_time"), (STEP, "memory_time"), (MARGIN, "gross_margin")],
)
def test_what_is_copied_as_latex_is_what_the_command_prints(site: Path, page, row, unknown: str):
    page.goto(f"{(site / equation_address(row.id)).as_uri()}#for={unknown}")
    page.get_by_role("button", name="Copy as LaTeX").click()
    said = CliRunner().invoke(backsolve, split(page.locator("#solver > p code").inner_text())[1:])
    assert page.locator("#solver pre").inner_text() == said.stdout.rstrip("\n")


def test_a_deployment_is_sized(site: Path, page):
    page.goto((site / "desk/index.html").as_uri())
    page.get_by_label("Chip", exact=True).select_option("B200-SXM:fp8")
    page.get_by_label("Model", exact=True).select_option("Llama-3.1-70B")
    page.get_by_label("batch", exact=True).fill("200")
    page.get_by_label("context, slider").press("ArrowRight")
    assert {*in_address(page, "batch")} == {"hardware", "model", "batch", "context_length"}
    given = values_in(STEP, page, "#desk > p code")
    assert given["batch"] == "200"
    solved = {}
    for name, title in (("step_time", "step time"), ("cost_per_token", "cost per token")):
        solved[name] = solve(name, hardware="B200-SXM:fp8", model="Llama-3.1-70B", given=given, anyway=True)
        shown = page.locator(".desk-fact").filter(has_text=title).locator("strong").inner_text()
        assert shown == f"{show(name, solved[name].value)} or more"
    page.get_by_label("batch", exact=True).fill("900000")
    assert page.locator("output").inner_text().startswith("It does not fit")
    weights = [one.evaluate("one => getComputedStyle(one).fontWeight") for one in page.locator(".desk-fact strong").all()]
    assert [int(one) > 500 for one in weights] == [True, *[False] * (len(weights) - 1)]
    page.get_by_text("--anyway").wait_for()
    assert CliRunner().invoke(backsolve, split(page.locator("#desk > p code").inner_text())[1:]).exit_code == 0
    most = int(re.findall(r"chips, or a batch of (\d+)", page.locator("output").inner_text())[0])
    page.get_by_label("batch", exact=True).fill(str(most))
    assert f"a batch of {most} still fits" in page.locator("output").inner_text()
    page.get_by_label("batch", exact=True).fill("200")
    under = roof("", known_numbers(solved["step_time"]))
    assert under
    page.locator("figcaption").get_by_text(f"runs at {show('peak_flops', under.rate)} on each chip").wait_for()


def test_a_price_is_that_of_the_chip_until_one_is_typed(site: Path, page):
    page.goto((site / "desk/index.html").as_uri())
    price, chip = (page.get_by_label(label, exact=True) for label in ("chip price", "Chip"))
    rented = {name: show("chip_price", rent(name).givens["chip_price"], 6) for name in ("H100-SXM", "B200-SXM")}
    assert price.input_value() == rented["H100-SXM"]
    for name, shown, said in (("B200-SXM:fp8", rented["B200-SXM"], ""), ("Rubin-VR200:fp4", "", "no rent of Rubin-VR200")):
        chip.select_option(name)
        told = page.locator("output").inner_text()
        assert price.input_value() == shown and said in told and ("cost per token" in told.splitlines()) == bool(shown)
    price.fill("5")
    price.press("Tab")
    chip.select_option("H100-SXM:fp8")
    assert price.input_value() == "$5/h" and "cost per token" in page.locator("output").inner_text()
    price.fill("")
    page.wait_for_url("**chip_price=")
    page.reload()
    assert price.input_value() == "" and "cost per token" not in page.locator("output").inner_text().splitlines()
    chip.select_option("B200-SXM:fp8")
    assert price.input_value() == rented["B200-SXM"]


@pytest.mark.parametrize(
    ("address", "lost"),
    [
        ("desk/index.html#model=<b>none</b>&chips=32", "model=<b>none</b>"),
        (f"{equation_address(CLOSED.id)}#for=batch&sparsity=12&colour=red", "for=batch, colour=red"),
        (f"index.html#constructor=1&{'a' * 5000}={'1' * 5000}", f"constructor=1, {'a' * 40}={'1' * 40}"),
    ],
)
def test_a_link_that_asks_for_what_is_not_here_says_so(site: Path, page, address: str, lost: str):
    page.goto(f"{site.as_uri()}/{address}")
    said = page.get_by_role("alert").filter(has_text="The link asks")
    assert said.inner_text() == f"The link asks for something that this page does not have: {lost}."
    page.get_by_label("slider").first.press("ArrowRight")
    assert page.get_by_text("The link asks").count() == 0


@pytest.mark.parametrize(("address", "label"), [("desk/index.html", "batch"), (equation_address(CLOSED.id), "sparsity")])
def test_a_refused_value_of_a_link_stays_there_and_leaves_no_answer(site: Path, page, address: str, label: str):
    page.goto(f"{site.as_uri()}/{address}#{label}=-1")
    assert (
        page.get_by_label(label, exact=True).input_value() == "-1"
        and "must be" in page.get_by_role("alert").filter(has_text="must").inner_text()
    )
    assert "No answer" in page.locator("output.solver-answer").inner_text()
    page.wait_for_timeout(400)
    assert page.url.endswith(f"#{label}=-1")


def test_the_blackboard_moves_and_is_shared(site: Path, page):
    page.goto(f"{site.as_uri()}/index.html")
    assert page.locator(".drawing > svg[role=img]").count() == 6
    said, batch = page.locator("#board-sentence output"), page.get_by_role("slider", name="batch", exact=True)
    before = said.inner_text()
    batch.press("PageDown")
    assert said.inner_text() != before and "memory-bound" in said.inner_text()
    assert {*in_address(page, "batch")} == {"batch"}
    page.goto("about:blank")
    page.goto(f"{site.as_uri()}/index.html#preset=h100-deepseek-v3&context_length=32k&rates=sustained&axes=log")
    assert page.get_by_label("context", exact=True).input_value() == "32k tokens"
    assert page.get_by_role("button", name="sustained rates").get_attribute("aria-pressed") == "true"
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").first.click()
    assert saved.value.path().read_text().startswith("batch [1],compute,weights")
    with page.expect_download() as saved:
        page.get_by_role("button", name="PNG").first.click()
    assert saved.value.path().read_bytes()[:4] == b"\x89PNG"
    page.get_by_role("button", name="lecture").click()
    page.wait_for_function("() => !location.hash.includes('preset')")
    ladder = page.locator("#picture-ladder .drawing > svg")
    before = ladder.locator("text").count()
    ladder.locator("circle").last.hover(force=True)
    assert ladder.locator("text").count() > before, "what is under the pointer is said"


def test_a_point_of_the_market_leads_to_its_sheet(site: Path, page):
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto((site / "market/index.html").as_uri())
    point = page.get_by_role("link", name="gemini-3.1-pro-preview").first
    point.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/sheet/google/gemini-3.1-pro-preview/**")


@pytest.mark.parametrize(("width", "most"), [(1280, 800), (390, 700)])
def test_the_first_control_and_the_first_picture_are_on_the_first_screen(site: Path, page, width: int, most: int):
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{site.as_uri()}/index.html")
    boxes = [page.locator(one).first.bounding_box() for one in (".drawing svg", "#board input")]
    assert all(box and box["y"] + box["height"] <= most for box in boxes)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_sheet_is_read_at_other_prices(site: Path, page):
    one = infer(["gemini-3.1-pro"])[0]
    page.goto((site / f"sheet/{one.sheet.provider}/{one.sheet.model}/index.html").as_uri())
    output = page.get_by_label("output price", exact=True)
    output.fill("14e-6 USD/token")
    published = {field["name"]: field["price"] for field in what_if(one)["fields"]}
    words = "bandwidth-bound fraction by output/input"
    value = worked_out(what_if(one), published | {"output": 14e-6})[words]
    told = page.get_by_role("row", name=words).locator("td").last
    assert told.inner_text() == f"{value:.2g}"
    assert in_address(page, "output") == {"output": "$14/MTok"}
    page.reload()
    assert output.input_value() == "$14/MTok" and told.inner_text() == f"{value:.2g}"
    place = page.locator("#what-if").bounding_box()
    assert place and page.viewport_size and 0 <= place["y"] < page.viewport_size["height"]
    output.fill("-1")
    assert "output price = -1e-06: must be > 0" in page.get_by_role("alert").all_inner_texts()
    page.goto(page.url.split("#")[0] + "#output=-2&input=3&storage=1")
    assert page.get_by_role("alert").filter(has_text="The link asks for something that this page does not have: storage=1.").count() == 1
    assert page.get_by_label("input price", exact=True).input_value() == "$3/MTok"
    page.get_by_role("button", name="As published").click()
    assert output.input_value() == "$12/MTok"


def test_what_is_folded_opens_where_a_link_leads_there_and_on_paper(site: Path, page):
    one = infer(["gemini-3.1-pro"])[0]
    page.goto(f"{(site / f'sheet/{one.sheet.provider}/{one.sheet.model}/index.html').as_uri()}#rows")
    folded, open_ones = page.locator("details.fold"), page.locator("details.fold[open]")
    assert open_ones.count() == 1 < folded.count() and page.locator("#rows").get_by_role("table").is_visible()
    tall = "() => [...document.querySelectorAll('details.fold > :last-child')].filter((one) => one.checkVisibility()).length"
    assert page.evaluate(tall) == 1
    page.emulate_media(media="print")
    assert page.evaluate(tall) == folded.count()
