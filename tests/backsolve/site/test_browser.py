"""A page in a browser, from disk: its scripts run under its own policy, and the index of the search is read."""

import subprocess
from pathlib import Path

import pytest

from backsolve.site import build
from backsolve.site.build import build_site
from backsolve.site.equations import equation_page
from backsolve.site.home import home_page
from derive.catalogue import equation
from tests.tools.browser import browser_here

pytestmark = [pytest.mark.slow, pytest.mark.skipif(browser_here() is None, reason="no Chromium is here")]


def test_scripts_run_from_disk_under_the_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    row = equation("batching.balance_batch")
    monkeypatch.setattr(build, "all_pages", lambda _html_base: iter([home_page(), equation_page(row, [])]))
    build_site(str(tmp_path / "site"))
    page = tmp_path / "site" / "eq" / row.id / "index.html"
    command = [browser_here() or "", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    written, shown = page.read_text(encoding="utf-8"), done.stdout
    assert 'role="search"' in shown and 'index.html" hidden' in written and 'index.html" hidden' not in shown
    assert "Copy BibTeX</button>" in shown and "<button" not in written
    assert "CONSOLE" not in done.stderr, done.stderr
