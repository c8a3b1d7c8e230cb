"""Figures: draw a `Chart` of plain numbers as SVG for pages and notebooks, and as a file by matplotlib."""
