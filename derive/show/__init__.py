"""Print equations and solutions as text, LaTeX, Markdown, JSON and citations. No module here computes an answer."""
