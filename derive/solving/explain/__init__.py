"""Explain an answer by warnings and assumptions, and a refusal by what the question lacks."""
