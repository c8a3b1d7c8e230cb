"""What the tests of the forms of a result share: one run, of sheets that differ in all that a form shows."""

import pytest

from invert.inference import infer
from invert.result import InferenceTable


@pytest.fixture(scope="session")
def run() -> InferenceTable:
    """Two bands and storage, four bands, two lifetimes, another currency, lifetimes that make no tariff."""
    return infer(["gemini-3.1-pro-preview", "qwen3-coder-plus", "claude-opus-5", "deepseek/deepseek-v4-pro", "kimi-k3"])
