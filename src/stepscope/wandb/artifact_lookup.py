"""Artifacts of all runs of a store, with W&B's error if there is none."""

from __future__ import annotations

from pathlib import Path

from stepscope.errors import NotFound
from stepscope.runs import artifact_lookup
from stepscope.runs.artifact_lookup import Kept, Wanted, all_kept, parse, version_of
from stepscope.wandb.errors import CommError

__all__ = ["Kept", "Wanted", "all_kept", "find", "parse", "version_of"]


def find(store: Path, reference: str, project: str | None) -> tuple[Kept, int]:
    """The artifact a reference names, and its version; in `project` unless the reference names another."""
    try:
        return artifact_lookup.find(store, reference, project)
    except NotFound as fault:
        raise CommError(str(fault)) from None
