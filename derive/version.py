"""The version of the package, of its citations and of the results that it saves."""

VERSION = "0.2.0"
