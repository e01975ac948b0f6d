"""Optimisers, schedules and the training loop."""
