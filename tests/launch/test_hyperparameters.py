"""Settings are found where scripts keep them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from stepscope.events.imports import Imports
from stepscope.launch.hyperparameters import Hyperparameters, config_objects, constants_of, optimizer_settings


class Seen(dict[str, Any]):
    def take(self, values: Mapping[str, Any]) -> None:
        self.update(values)


@pytest.fixture
def seen() -> Iterator[Seen]:
    found = Seen()
    parts = Hyperparameters(found.take)
    parts.install(Imports())
    yield found
    parts.remove()


def test_parsed_arguments_are_seen_and_returned_as_ever(seen: Seen) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--wide", action="store_true")
    args = parser.parse_args(["--lr", "0.5"])
    assert vars(args) == {"lr": 0.5, "wide": False}
    assert seen == {"lr": 0.5, "wide": False}


def test_known_arguments_are_seen_once(seen: Seen) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    assert parser.parse_known_args(["--other"])[1] == ["--other"]
    assert seen == {"lr": 0.1}


def test_a_click_commands_parameters_are_seen(seen: Seen) -> None:
    @click.command()
    @click.option("--epochs", type=int, default=3)
    def train(epochs: int) -> None:
        click.echo(epochs)

    assert CliRunner().invoke(train, ["--epochs", "5"]).output == "5\n"
    assert seen == {"epochs": 5}


@dataclass
class TrainConfig:
    lr: float = 0.1
    depth: int = 2


def test_config_objects_are_known_by_name_and_class() -> None:
    names = {"cfg": {"width": 8}, "made": TrainConfig(lr=0.3), "net": SimpleNamespace(lr=9), "_args": {"hidden": 1}}
    assert config_objects(names) == {"width": 8, "lr": 0.3, "depth": 2}


def test_constants_are_those_bound_once_to_simple_values(tmp_path: Path) -> None:
    text = "import os\nLR = 1e-3\nbatch, epochs = 2 * 16, 5\nbest = 0\nbest = 1\ncount = 0\ncount += 1\n"
    text += "name = os.name\n_x = 1\n"
    path = tmp_path / "train.py"
    path.write_text(text)
    module = ModuleType("__main__")
    exec(text, module.__dict__)
    module.__file__ = str(path)
    assert constants_of(module) == {"LR": 1e-3, "batch": 32, "epochs": 5}


def test_an_optimizers_settings() -> None:
    group = {"lr": 0.05, "initial_lr": 0.1}
    made = SimpleNamespace(param_groups=[group], defaults={"lr": 0.1, "betas": (0.9, 0.99), "fused": None})
    assert optimizer_settings(made) == {"name": "SimpleNamespace", "lr": 0.1, "betas": (0.9, 0.99)}


def test_nothing_is_left_patched() -> None:
    before = argparse.ArgumentParser.parse_known_args
    parts = Hyperparameters(lambda values: None)
    parts.install(Imports())
    parts.remove()
    assert argparse.ArgumentParser.parse_known_args is before
