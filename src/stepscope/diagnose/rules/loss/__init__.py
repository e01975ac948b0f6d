"""Losses: their inputs and results."""
