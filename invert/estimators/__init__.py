"""Estimators from prices. Their names are in `names`, and `known` runs them side by side."""
