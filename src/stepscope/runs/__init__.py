"""The run folder: write, read, catalogue, query, downsample. Knows nothing of torch."""
