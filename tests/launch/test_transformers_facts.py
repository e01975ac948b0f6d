"""What a Hugging Face Trainer says of itself, in our names; with stand-ins for its objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch

from stepscope.launch.transformers_facts import model_facts, named_metrics, settings_of


@pytest.mark.parametrize(
    ("logs", "series", "overall"),
    [
        ({"loss": 0.5, "epoch": 1.0, "kl": 2.0}, {"train/loss": 0.5, "train/epoch": 1.0, "train/kl": 2.0}, {}),
        ({"eval_loss": 0.4, "eval_runtime": 2.0, "epoch": 1.0}, {"eval/loss": 0.4, "eval/runtime": 2.0}, {}),
        ({"eval_a_loss": 0.4, "eval_a_runtime": 2.0}, {"eval/a_loss": 0.4, "eval/a_runtime": 2.0}, {}),
        ({"fold_1_acc": 0.4, "fold_1_runtime": 2.0}, {"fold_1/acc": 0.4, "fold_1/runtime": 2.0}, {}),
        ({"train_loss": 0.3, "train_runtime": 9.0, "epoch": 3.0}, {}, {"train_loss": 0.3, "train_runtime": 9.0}),
        ({"loss": 0.5, "train_runtime": 3.0}, {"train/loss": 0.5, "train/runtime": 3.0}, {}),
        ({"test_loss": 0.2}, {"test/loss": 0.2}, {}),
        ({}, {}, {}),
    ],
)
def test_metrics_get_the_names_of_their_stage(
    logs: dict[str, float], series: dict[str, float], overall: dict[str, float]
) -> None:
    assert named_metrics(logs) == (series, overall)


def test_arguments_without_a_value_and_tokens_are_left_out() -> None:
    @dataclass
    class Arguments:
        learning_rate: float = 0.1

        def to_dict(self) -> dict[str, Any]:
            return {"learning_rate": 0.1, "fsdp": None, "hub_token": "<HUB_TOKEN>", "_inner": 1}

    assert settings_of(Arguments()) == {"learning_rate": 0.1}


def test_a_model_is_told_without_what_every_config_has() -> None:
    class Base:
        def to_dict(self) -> dict[str, Any]:
            return {"num_beams": 1, "width": None}

    class Config(Base):
        def to_dict(self) -> dict[str, Any]:
            return {"num_beams": 1, "width": 8, "depth": None}

    model = torch.nn.Linear(3, 2)
    model.weight.requires_grad_(False)
    model.config = Config()  # type: ignore[assignment]
    assert model_facts(model) == {
        "model/class": "Linear",
        "model/parameters": 8,
        "model/trainable_parameters": 2,
        "model/width": 8,
    }
