"""A run's config, summary, tags, notes, rules and alerts: changes are events, secrets are masked."""

from __future__ import annotations

import argparse
import dataclasses
import enum
import pathlib
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import stepscope
from stepscope.errors import UsageError
from stepscope.records import (
    Alert,
    ConfigUpdate,
    Environment,
    MetricRule,
    NameChange,
    NotesChange,
    SummaryUpdate,
    TagsChange,
)
from stepscope.track.config import Config, flatten, masked
from stepscope.track.names import friendly_name
from stepscope.track.run import Run

Reader = Callable[[Path], Any]


@dataclasses.dataclass
class Inner:
    width: int = 64
    act: str = "relu"


@dataclasses.dataclass
class Settings:
    lr: float = 0.1
    model: Inner = dataclasses.field(default_factory=Inner)


class OmegaLike(Mapping[str, Any]):
    def __init__(self, **values: Any) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class Plain:
    def __init__(self) -> None:
        self.lr = 0.1
        self.model = types.SimpleNamespace(width=64, act="relu")
        self._private = 1


FLAT = {"lr": 0.1, "model/width": 64, "model/act": "relu"}


@pytest.mark.parametrize(
    "config",
    [
        {"lr": 0.1, "model": {"width": 64, "act": "relu"}},
        {"lr": 0.1, "model/width": 64, "model/act": "relu"},
        argparse.Namespace(lr=0.1, model=argparse.Namespace(width=64, act="relu")),
        types.SimpleNamespace(lr=0.1, model={"width": 64, "act": "relu"}),
        Settings(),
        OmegaLike(lr=0.1, model=OmegaLike(width=64, act="relu")),
        Plain(),
    ],
    ids=lambda config: type(config).__name__,
)
def test_settings_may_be_kept_in_anything_with_named_fields(store: Path, recorded: Reader, config: Any) -> None:
    run = stepscope.init(dir=store, config=config, system=False, git=False)
    run.finish()
    assert recorded(run.path).meta.config == FLAT  # type: ignore[arg-type]


def test_values_that_json_does_not_know_become_their_text() -> None:
    values = {
        "path": pathlib.PurePosixPath("/data"),
        "dtype": torch.float32,
        "device": torch.device("cpu"),
        "nan": float("nan"),
        "inf": float("-inf"),
        "np": np.float32(0.5),
        "tensor": torch.tensor([1, 2]),
        "set": {2, 1},
        "tuple": (1, (2, None)),
        "class": Inner,
        "function": friendly_name,
        "big": 2**70,
        "bytes": b"abc",
        "none": None,
        "empty": {},
        "bad": "\udc80",
    }
    assert masked(flatten(values)) == {
        "path": "/data",
        "dtype": "torch.float32",
        "device": "cpu",
        "nan": "nan",
        "inf": "-inf",
        "np": 0.5,
        "tensor": [1, 2],
        "set": [1, 2],
        "tuple": [1, [2, None]],
        "class": f"{__name__}.Inner",
        "function": "stepscope.track.names.friendly_name",
        "big": str(2**70),
        "bytes": "b'abc'",
        "none": None,
        "empty": {},
        "bad": "\\udc80",
    }


def test_a_choice_is_kept_as_its_value() -> None:
    schedule = enum.Enum("Schedule", {"LINEAR": "linear"})
    odd = enum.Enum("Odd", {"ONE": (1, 2)})
    assert masked({"schedule": schedule.LINEAR, "odd": odd.ONE}) == {"schedule": "linear", "odd": "ONE"}


def test_a_config_that_holds_itself_ends() -> None:
    loop: dict[str, Any] = {"lr": 0.1}
    loop["self"] = loop
    assert masked(flatten(loop))["lr"] == 0.1


def test_config_changes_are_recorded_once_each(store: Path, recorded: Reader) -> None:
    run = stepscope.init(dir=store, config={"lr": 0.1, "opt": {"beta": 0.9}}, system=False, git=False)
    run.config.update({"lr": 0.1})
    run.config.lr = 0.01
    run.config["opt/beta"] = 0.8
    run.config.opt.update(eps=1e-8)
    run.config = {"new": 1}
    assert dict(run.config) == {"lr": 0.01, "opt/beta": 0.8, "opt/eps": 1e-8, "new": 1}
    assert run.config.opt.beta == 0.8
    run.finish()
    changes = [event.values for event in recorded(run.path).of(ConfigUpdate)]  # type: ignore[arg-type]
    assert changes == [{"lr": 0.01}, {"opt/beta": 0.8}, {"opt/eps": 1e-8}, {"new": 1}]


def test_secrets_stay_readable_for_the_script() -> None:
    config = Config({"token": "abc"})
    assert config.token == "abc"
    assert "abc" not in repr(config)


def test_a_missing_setting_names_the_ones_there_are() -> None:
    with pytest.raises(AttributeError, match="no 'lr_'; it has lr, seed"):
        _ = Config({"lr": 1, "seed": 2}).lr_


def test_everything_else_about_a_run_is_an_event(store: Path, recorded: Reader) -> None:
    run = stepscope.init(dir=store, name="first", tags=["a", "b", "a"], notes="n", system=False, git=False)
    run.summary["best"] = np.float32(0.5)
    run.summary.update({"val": {"acc": 0.9}})
    run.define("val/*", summary="min", x="epoch", goal="min")
    run.tags.add("c", "a")
    run.tags.remove("b")
    run.tags = ["c", "d"]
    run.notes = "better"
    run.name = "second"
    run.log({"x": 1.0}, step=5)
    run.alert("Loss went up", "by a lot", level="error")
    run.finish()
    read = recorded(run.path)  # type: ignore[arg-type]
    assert read.meta.tags == ["a", "b"]
    assert [event.values for event in read.of(SummaryUpdate)] == [{"best": 0.5}, {"val/acc": 0.9}]
    (rule,) = read.of(MetricRule)
    assert (rule.name, rule.summary, rule.x, rule.goal) == ("val/*", "min", "epoch", "min")
    assert [(event.add, event.remove) for event in read.of(TagsChange)] == [
        (["c"], []), ([], ["b"]), ([], ["a"]), (["d"], []),
    ]  # fmt: skip
    assert [event.text for event in read.of(NotesChange)] == ["better"]
    assert [event.name for event in read.of(NameChange)] == ["second"]
    (alert,) = read.of(Alert)
    assert (alert.title, alert.text, alert.level, alert.step) == ("Loss went up", "by a lot", "error", 5)


def test_the_surroundings_are_recorded(store: Path, recorded: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    monkeypatch.setenv("MY_PRIVATE_THING", "nobody's business")
    run = stepscope.init(dir=store, project="p", group="g", system=False)
    run.finish()
    read = recorded(run.path)  # type: ignore[arg-type]
    meta = read.meta
    assert (meta.project, meta.group, meta.id) == ("p", "g", run.id)
    assert meta.packages["numpy"] == np.__version__
    assert meta.env["CUDA_VISIBLE_DEVICES"] == "0,1"
    assert "MY_PRIVATE_THING" not in meta.env
    assert meta.hardware["cpu_count"] >= 1
    assert all((meta.command, meta.cwd, meta.host, meta.python, meta.platform, meta.stepscope))
    assert len(read.of(Environment)) == 1


def test_names_are_made_up_without_touching_the_generators() -> None:
    names = {friendly_name() for _ in range(100)}
    assert len(names) > 95
    assert all(name.count("-") == 2 for name in names)


def test_a_name_of_spaces_is_none(store: Path) -> None:
    run = stepscope.init(dir=store, name="  ", system=False, git=False)
    assert run.name.count("-") == 2


def test_a_wrong_mode_is_an_error_at_once(store: Path) -> None:
    with pytest.raises(UsageError, match="'sometimes' is unknown; use 'on' or 'off'"):
        stepscope.init(dir=store, mode="sometimes")  # type: ignore[arg-type]


def test_repr_and_notebook_show_name_and_place_as_text(store: Path) -> None:
    run = stepscope.init(dir=store, name="<script>alert(1)</script>", system=False, git=False)
    assert "running" in repr(run)
    assert "<script>" not in run._repr_html_()
    run.finish()
    assert "finished" in repr(run)


def test_the_module_level_log_needs_an_open_run(capfd: pytest.CaptureFixture[str]) -> None:
    stepscope.log({"x": 1.0})
    assert "call stepscope.init() first" in capfd.readouterr().err


def test_artifacts_are_kept(store: Path, tmp_path: Path, recorded: Reader) -> None:
    (tmp_path / "model.pt").write_bytes(b"weights")
    run: Run = stepscope.init(dir=store, system=False, git=False)
    artifact = run.log_file(tmp_path / "model.pt")
    run.finish()
    assert artifact is not None
    assert artifact.files[0].size == 7
