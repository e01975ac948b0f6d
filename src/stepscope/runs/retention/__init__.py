"""Retention: what of an old run is let go of, and what is remembered of that."""
