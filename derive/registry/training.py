"""Training and reinforcement learning: tokens, FLOPs and fits, and what a reversible network saves."""

ROWS: tuple[tuple, ...] = ()
