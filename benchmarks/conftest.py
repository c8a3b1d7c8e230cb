"""Prints every ratio and its target after the table of times."""

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line a measured ratio; a target that is missed is said, not failed: the machine may be busy."""
    reports = terminalreporter.stats.get("passed", [])
    lines = [text for report in reports for name, text in report.user_properties if name == "ratio"]
    if lines:
        terminalreporter.section("ratios, both sides measured in turn in this run")
        for line in lines:
            terminalreporter.write_line(line)
