"""What all tests share: every random draw is the same in every run, and a busy machine fails no test."""

from hypothesis import settings

settings.register_profile("the same draws every time", derandomize=True, deadline=None)
settings.load_profile("the same draws every time")
