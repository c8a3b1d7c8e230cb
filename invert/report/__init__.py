"""Results as tables, pages, records and frames: all that is shown is read off the inference."""
