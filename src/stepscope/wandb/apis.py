"""`wandb.apis.public.Api`, the older name of `wandb.Api`."""

from __future__ import annotations

from types import SimpleNamespace

from stepscope.wandb.public import Api

__all__ = ["public"]

public = SimpleNamespace(Api=Api)
