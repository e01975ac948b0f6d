"""The largest batch that fits, and how fast training is up to it: measured in the running training."""
