"""Metrics that measure something else than they should."""
