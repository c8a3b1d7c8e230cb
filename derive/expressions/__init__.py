"""What is done with the sides of an equation: its regimes, its roots, and the search for those that have no closed form."""
