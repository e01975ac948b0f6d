"""A run's console output: lines, pages of them, and search."""
