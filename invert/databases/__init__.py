"""Databases of prices that other people keep, read into rows of this schema: a module a source, and one that puts them together."""
