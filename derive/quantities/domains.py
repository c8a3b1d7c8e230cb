"""The values a quantity may take."""

POSITIVE, NONNEGATIVE, AT_LEAST_ONE, FRACTION, UNIT_INTERVAL = "> 0", ">= 0", ">= 1", "in (0, 1]", "in [0, 1]"
AT_MOST_ONE = "<= 1"
"""The values of a share that may be negative."""
