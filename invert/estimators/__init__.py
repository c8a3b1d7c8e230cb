"""Estimators from prices. `known` runs them side by side."""
