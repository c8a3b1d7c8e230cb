"""Ways to get an estimate from prices, a module each; what they are called stands in `names`, the functions in `registry`."""
