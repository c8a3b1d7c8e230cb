"""Compare results with known values for the scoreboard: claims, price changes, hosts of one model, and coverage."""
