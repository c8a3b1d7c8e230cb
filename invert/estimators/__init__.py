"""Estimators from prices, one module each. Their names are in `names`, their functions in `registry`."""
