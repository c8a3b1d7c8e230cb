"""What the tests of pages of prices share: one run of sheets that differ in what their pages show."""

import pytest

from invert.inference import infer
from invert.result import InferenceTable


@pytest.fixture(scope="session")
def some_sheets() -> InferenceTable:
    """Two bands and storage, two lifetimes, four bands of a model whose architecture is known."""
    return infer(["gemini-3.1-pro", "claude-opus-5", "qwen3-coder-plus"])
