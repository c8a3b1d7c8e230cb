"""What is held against what is known, section by section of the scoreboard: claims, price changes, hosts of one model, and coverage."""
