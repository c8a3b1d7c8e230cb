"""Price files: read, checked, and turned into the sheets of one day."""
