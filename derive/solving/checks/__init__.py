"""What every answer agrees with: the givens, the memory of the chips, what is possible, and the targets."""
