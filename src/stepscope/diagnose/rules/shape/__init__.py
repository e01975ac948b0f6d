"""Sizes that do not fit: layers, batches, concatenations."""
