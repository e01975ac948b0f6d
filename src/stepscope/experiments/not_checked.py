"""The exception of an experiment that cannot run."""

from __future__ import annotations

__all__ = ["NotChecked"]


class NotChecked(Exception):
    """Why an experiment cannot run."""
