"""Trying in a fork which single change lets the line that raised, and what follows it, run through."""
