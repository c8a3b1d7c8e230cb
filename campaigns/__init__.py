"""Checks that take longer than the tests: questions by the thousand, killed commands, browsers, TeX. `.ci/long` runs them."""
