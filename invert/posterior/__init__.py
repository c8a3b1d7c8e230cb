"""The posterior of the prices of a sheet at one mark-up: priors, likelihood, draws and their weights."""
