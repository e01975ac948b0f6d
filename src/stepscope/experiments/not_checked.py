"""The exception of an experiment that cannot run."""

from __future__ import annotations


class NotChecked(Exception):
    """Why an experiment cannot run."""
