"""What is said beside an answer: warnings, assumptions, and what a refused question lacks."""
