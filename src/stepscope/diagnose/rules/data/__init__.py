"""Datasets, loaders and what they deliver."""
