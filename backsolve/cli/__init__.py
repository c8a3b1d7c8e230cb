"""The commands. `main` assembles them. Slow imports are inside functions, so each command loads only its own."""
