"""Checkpoints: saving, loading, resuming."""
