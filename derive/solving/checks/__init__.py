"""Check every answer against the givens, the memory of the chips, what is possible, and the targets."""
