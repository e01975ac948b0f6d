"""`wandb.apis.public.Api`, as older code writes `wandb.Api`."""

from __future__ import annotations

from types import SimpleNamespace

from stepscope.wandb.public import Api

__all__ = ["public"]

public = SimpleNamespace(Api=Api)
