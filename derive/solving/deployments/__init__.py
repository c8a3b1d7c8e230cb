"""Questions as people mean them of a deployment: whole replicas, prompts, hours of waiting, budgets."""
