"""Where each module and parameter was constructed. (First part: reading the parent's source follows.)"""

from __future__ import annotations

from typing import Any

from stepscope.records.step import Site

__all__ = ["construction_sites"]


def construction_sites(root: Any) -> dict[str, Site]:
    """Path -> where in the user's source that module was made."""
    return {}
