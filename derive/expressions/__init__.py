"""Formulas as trees: simplify them, split them into smooth regimes, and find their roots."""
