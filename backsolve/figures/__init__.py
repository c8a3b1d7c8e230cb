"""Figures: a `Chart` of plain numbers drawn as SVG for pages and notebooks, and as a file by matplotlib."""
