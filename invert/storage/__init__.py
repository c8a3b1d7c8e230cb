"""Cache lifetimes, storage prices, the memory tiers they point to, and what vendors disclosed."""
