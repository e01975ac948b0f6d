"""`wandb.apis.public.Api`, the older name of `wandb.Api`."""

from __future__ import annotations

from types import SimpleNamespace

from stepscope.wandb.public import Api

public = SimpleNamespace(Api=Api)
