"""Results as tables, pages, records and frames. They only show numbers of the inference."""
