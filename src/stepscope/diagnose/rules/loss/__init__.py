"""Losses: what goes into them and what comes out."""
