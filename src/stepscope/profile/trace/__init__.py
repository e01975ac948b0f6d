"""Any torch trace as one table of columns, and how its events belong together."""
