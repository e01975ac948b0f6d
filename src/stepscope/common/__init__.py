"""Shared helpers for all packages. Imports neither torch nor other packages."""
