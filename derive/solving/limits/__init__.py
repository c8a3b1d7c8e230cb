"""Givens that are limits (at most, at least), and sizes at their better end."""
