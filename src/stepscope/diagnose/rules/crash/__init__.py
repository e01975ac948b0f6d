"""Crashes without a rule of their own."""
