"""Settings are found where scripts keep them."""

from __future__ import annotations

import argparse
import gc
import sys
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from stepscope.events.imports import Imports
from stepscope.launch.hyperparameters import Hyperparameters, optimizer_settings
from stepscope.launch.settings.constants import constants_of
from stepscope.launch.settings.objects import config_objects, inner_objects, names_in_reach
from stepscope.launch.settings.parsers import of_call


class Seen(dict[str, Any]):
    origins: Mapping[str, str]

    def take(self, values: Mapping[str, Any], overrule: bool, origins: Mapping[str, str]) -> None:
        self.update(values)
        self.origins = origins


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
    assert seen.origins == {"lr": "command line", "wide": "default"}


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
    values, origins = config_objects(names)
    assert values == {"width": 8, "lr": 0.3, "depth": 2}
    assert origins == {"width": "script", "lr": "script", "depth": "default"}


@dataclass
class Cfg:
    lr: float = 0.1
    epochs: int = 3
    hidden: int = 16


def test_what_a_script_makes_of_a_file_overrules_the_file(seen: Seen, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('{"lr": 0.3, "epochs": 9}')
    script = tmp_path / "train.py"
    script.write_text(
        "import json\nwith open(folder + '/c.json') as file: cfg = make(**json.load(file))\n"
        "cfg.epochs, cfg.hidden = 4, 32\nlook()\n"
    )
    parts = Hyperparameters(seen.take)
    parts.install(Imports())
    names = {"make": Cfg, "folder": str(tmp_path), "__name__": "__main__"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", main := ModuleType("__main__"))
        vars(main).update(names, look=parts.look_at_script)
        exec(compile(script.read_text(), str(script), "exec"), vars(main))
    parts.remove()
    assert {name: seen[name] for name in ("lr", "epochs", "hidden")} == {"lr": 0.3, "epochs": 4, "hidden": 32}


def test_settings_inside_settings_are_read_once() -> None:
    inner = {"lr": 0.5}
    reach = [{"config": inner}, {"config": {"trainer": inner, "seed": 1}}]
    known = inner_objects(reach)
    found = [config_objects(names, known)[0] for names in reach]
    assert found == [{}, {"trainer/lr": 0.5, "seed": 1}]


def test_an_object_that_was_made_of_parsed_settings_is_what_counts(seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = Hyperparameters(seen.take)
    source = of_call(Cfg, (), {"lr": 0.5})
    parts._take(source)
    monkeypatch.setitem(sys.modules, "__main__", main := ModuleType("__main__"))
    vars(main)["cfg"] = Cfg(lr=0.5, hidden=64)
    parts.look_at_script()
    assert seen == {"lr": 0.5, "epochs": 3, "hidden": 64}


def test_tensors_and_functions_under_such_a_name_are_no_settings() -> None:
    assert config_objects({"params": {"weight": object(), "bias": object(), "lr": 0.1}}) == ({}, {})
    known = {"lr": 0.1}
    assert config_objects({"cfg": known}, [known]) == ({}, {})


def test_a_parser_that_a_library_uses_for_itself_is_not_the_scripts(seen: Seen, tmp_path: Path) -> None:
    text = "import argparse\ndef parse():\n    parser = argparse.ArgumentParser()\n"
    text += "    parser.add_argument('--verbose')\n    return parser.parse_args([])\n"
    library: dict[str, Any] = {"__name__": "somelib.cli"}
    exec(compile(text, "/usr/lib/python3/site-packages/somelib/cli.py", "exec"), library)
    assert vars(library["parse"]()) == {"verbose": None}
    assert seen == {}


def test_variables_of_a_function_are_read_and_not_kept_alive() -> None:
    class Heavy:
        pass

    def training() -> tuple[list[Mapping[str, Any]], Any]:
        config, heavy = {"lr": 0.1}, Heavy()  # noqa: F841
        return list(names_in_reach(sys._getframe())), weakref.ref(heavy)

    found, heavy = training()
    assert found[0]["config"] == {"lr": 0.1}
    found.clear()
    gc.collect()
    assert heavy() is None


def test_constants_are_those_bound_once_to_simple_values(tmp_path: Path) -> None:
    text = "import os\nLR = 1e-3\nbatch, epochs = 2 * 16, 5\nbest = 0\nbest = 1\ncount = 0\ncount += 1\n"
    text += "name = os.name\n_x = 1\ncorpus = 'to be or not to be ' * 20\n"
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
    parts = Hyperparameters(lambda values, overrule, origins: None)
    parts.install(Imports())
    parts.remove()
    assert argparse.ArgumentParser.parse_known_args is before
