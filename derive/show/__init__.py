"""Equations and solutions as text, LaTeX, Markdown, JSON and citations: nothing is worked out here."""
