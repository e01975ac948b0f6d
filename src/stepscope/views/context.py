"""What every view is given: the catalogue it reads from and what this server may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.runs.catalogue import Catalogue
    from stepscope.views.live import Hub

__all__ = ["Context"]


@dataclass
class Context:
    catalogue: Catalogue
    hub: Hub
    read_only: bool = False
    """Nothing in the stores may be changed through this server."""
