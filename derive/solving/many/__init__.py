"""Many values at once: lists, sweeps and ranges, as arrays of NumPy."""
