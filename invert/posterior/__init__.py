"""What one mark-up makes of the prices of a sheet: priors, likelihood, draws and their weights."""
