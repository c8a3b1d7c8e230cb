"""Many chips: experts, memory and pipeline stages."""

ROWS: tuple[tuple, ...] = ()
