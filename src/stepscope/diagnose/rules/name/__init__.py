"""Names: rebound, undefined, misspelled."""
