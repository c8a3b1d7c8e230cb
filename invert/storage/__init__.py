"""Where caches lie, and for how much: lifetimes, storage prices, and what vendors said."""
