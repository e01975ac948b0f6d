"""`wandb.integration`: the parts that exist here, under the names that W&B gives them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from stepscope.wandb.wording import instead_of


def __getattr__(name: str) -> Any:
    if name in ("keras", "sklearn"):
        return import_module(f"stepscope.wandb.integration.{name}")
    raise AttributeError(instead_of(name))
