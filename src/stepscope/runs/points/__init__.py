"""Points as numpy arrays: series, and what a chart does to them."""
