"""Numbers that the script prints: read from the console into series under their printed names."""
