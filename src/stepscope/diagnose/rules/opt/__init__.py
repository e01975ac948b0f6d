"""Optimizers, schedules and the training loop."""
