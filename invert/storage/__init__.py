"""Cache lifetimes, storage prices, the memory tiers that they imply, and the statements of vendors."""
