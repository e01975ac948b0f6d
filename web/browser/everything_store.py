"""One store with something for every page: for checks and pictures that walk through all of them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

KINDS = ("compare", "distributions", "media", "profile", "reports", "inside", "run")
"""The last is the newest, and so what a page shows first."""


def everything(store: Path) -> None:
    for kind in KINDS:
        getattr(import_module(f"{kind}_store"), kind)(store)
