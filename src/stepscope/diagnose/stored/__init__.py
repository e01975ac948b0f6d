"""Diagnosing a run from its folder alone: no script, no torch, any run that was ever stored."""
