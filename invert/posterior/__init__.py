"""The posterior of the prices of a sheet with one price/cost: priors, likelihood, draws and their weights."""
