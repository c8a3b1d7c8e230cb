"""Questions solved: one equation, chains and blocks of them, ranges and sweeps, and why there is no answer."""
