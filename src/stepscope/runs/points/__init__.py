"""Points as numpy arrays: series and chart operations."""
