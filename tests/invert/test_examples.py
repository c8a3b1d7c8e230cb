"""Small functions of `invert` on examples."""

from invert.estimate_text import bracket_range


def test_bracket_range():
    assert bracket_range("45 B", "14 to 150 B") == "45 B (14-150)"
    assert bracket_range("HBM or DDR", "98 % likely") == "HBM or DDR (98 % likely)"
    assert bracket_range("none", "-") == "none"
