"""`wandb.apis.public.Api` and `wandb.apis.PublicApi`, older names of `wandb.Api`."""

from __future__ import annotations

from types import SimpleNamespace

from stepscope.wandb.public import Api

PublicApi = Api
public = SimpleNamespace(Api=Api)
