"""Retention: what is removed from an old run, and the record of it."""
