"""The commands, a module each; `main` puts them together. What is heavy is imported inside a command, when it is run."""
