"""Runs that cannot be repeated, or repeat themselves."""
