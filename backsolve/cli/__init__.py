"""The commands, one module for each. `main` assembles them. Slow imports are inside functions, so each command loads only its own."""
