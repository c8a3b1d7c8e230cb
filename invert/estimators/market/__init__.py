"""The market: sizes from the level of a price, and the KV bytes of the models of a time."""
