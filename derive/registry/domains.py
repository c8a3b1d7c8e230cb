"""The values a quantity may take."""

POSITIVE, NONNEGATIVE, FRACTION, UNIT_INTERVAL = "> 0", ">= 0", "in (0, 1]", "in [0, 1]"
