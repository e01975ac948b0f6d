"""Names from inside W&B that public code writes, and charts that lack a field."""

from __future__ import annotations

import stepscope.wandb as wandb


def test_inner_names_of_annotations_are_there() -> None:
    def train(run: wandb.sdk.wandb_run.Run, api: wandb.apis.public.Api) -> None: ...

    assert wandb.sdk.wandb_run.Run is wandb.Run
    assert wandb.apis.public.Api is wandb.apis.PublicApi is wandb.Api


def test_a_preset_without_its_fields_keeps_the_table() -> None:
    table = wandb.Table(columns=["y"], data=[[1], [2]])
    chart = wandb.plot_table("wandb/bar/v0", table, {"value": "y"})
    assert type(chart).__name__ == "CustomChart"


def test_the_run_can_be_imported_from_where_it_is_made() -> None:
    from stepscope.wandb.sdk.wandb_run import Run

    assert Run is wandb.Run
