"""The version of all that ships together: the package is built with it, and what is made says it."""

VERSION = "0.1.0"
