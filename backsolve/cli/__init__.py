"""The commands, one module for each. `main` assembles them. Slow imports are inside functions: each command loads only its own."""
