"""What the market says: size from the level of a price, and the KV bytes of the models of a time."""
