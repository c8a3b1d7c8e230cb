"""Estimates from the market: sizes from prices, and the typical KV bytes of a time."""
