"""The question as records: givens read, presets, defaults, zeros and layouts. Read `questions` first."""
