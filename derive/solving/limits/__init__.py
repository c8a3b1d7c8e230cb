"""Givens as at most or at least so much, and sizes at their better end."""
