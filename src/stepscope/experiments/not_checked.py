"""An experiment that cannot be made says why."""

from __future__ import annotations

__all__ = ["NotChecked"]


class NotChecked(Exception):
    """Why an experiment cannot be made."""
