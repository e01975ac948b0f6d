"""A script run again for a few steps with one thing changed, to measure what the change gains."""
