"""What a script sends to TensorBoard or W&B is kept too, and sent as ever. Stand-ins have the packages' own shapes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.trackers import Hub, watch_trackers
from stepscope.records import Alert, Event, MetricRule

WRITER = """
class SummaryWriter:
    def __init__(self, log_dir="runs/one"): self.log_dir = log_dir; self.written = []
    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None): self.written.append((tag, scalar_value))
    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None): self.written.append(main_tag)
    def add_text(self, tag, text_string, global_step=None, walltime=None): self.written.append(tag)
    def add_hparams(self, hparam_dict, metric_dict, hparam_domain_discrete=None):
        SummaryWriter(self.log_dir + "/sub").add_scalar("best", metric_dict["best"])
        self.written.append("hparams")
"""
WANDB = """
class Config(dict):
    _callback = None
    def __setitem__(self, name, value):
        dict.__setitem__(self, name, value)
        self._callback(key=name, val=value)
class _Run:
    starting_step, name = 0, "first"
    def __init__(self, config): self.config = Config(config); self.sent = []; self.summary = {}
    def log(self, data, step=None, commit=None): self._log(data, step, commit)
    def _log(self, data, step=None, commit=None): self.sent.append(data)
    def define_metric(self, name, step_metric=None, summary=None): self.sent.append(name)
    def alert(self, title, text="", level=None): self.sent.append(title)
run = None
def init(project=None, config=None):
    global run, log, alert
    run = _Run(config or {}); log = run.log; alert = run.alert
    return run
"""


class Kept:
    is_told_by_trainer = False

    def __init__(self) -> None:
        self.rows: list[tuple[dict[str, Any], int | None]] = []
        self.config: dict[str, Any] = {}
        self.summed: dict[str, Any] = {}
        self.events: list[Event] = []
        self.imports = Imports()
        self.installed = Installed()
        self.step = 0
        self.hub: Hub

    def log(self, values: Any, step: int | None) -> None:
        self.rows.append((dict(values), step))

    def settings(self, values: Any, overrule: bool) -> None:
        self.config = {**self.config, **values} if overrule else {**values, **self.config}

    def summary(self, values: Any) -> None:
        self.summed.update(values)

    def event(self, event: Event) -> None:
        self.events.append(event)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kept]:
    package = tmp_path / "tensorboardX"
    package.mkdir()
    (package / "__init__.py").write_text("from .writer import SummaryWriter\n")
    (package / "writer.py").write_text(WRITER)
    (tmp_path / "wandb.py").write_text(WANDB)
    monkeypatch.syspath_prepend(tmp_path)
    found = Kept()
    found.imports.install()
    found.hub = Hub(found)
    watch_trackers(found.imports, found.installed, found.hub)
    yield found
    found.installed.remove()
    found.imports.remove()
    for name in ("tensorboardX", "tensorboardX.writer", "wandb"):
        sys.modules.pop(name, None)


def test_tensorboard_scalars_are_kept_under_their_own_names(kept: Kept) -> None:
    from tensorboardX import SummaryWriter  # type: ignore[import-not-found]

    writer = SummaryWriter()
    writer.add_scalar("loss", 0.5, 3)
    writer.add_scalars("acc", {"a": 1.0, "b": 2.0}, global_step=4)
    writer.add_hparams({"lr": 0.1}, {"best": 0.9})
    assert writer.written == [("loss", 0.5), "acc", "hparams"]
    assert kept.rows == [({"loss": 0.5}, 3), ({"acc/a": 1.0, "acc/b": 2.0}, 4)]
    assert kept.config == {"lr": 0.1}
    assert kept.summed == {"best": 0.9}


def test_two_writers_with_one_tag_are_told_apart_by_their_folders(kept: Kept) -> None:
    from tensorboardX import SummaryWriter

    train, held_out = SummaryWriter("runs/a"), SummaryWriter("runs/b")
    for step in range(2):
        train.add_scalar("loss", 0.5, step)
        held_out.add_scalar("loss", 0.7, step)
    assert kept.rows == [({"loss": 0.5}, 0), ({"b/loss": 0.7}, 0), ({"loss": 0.5}, 1), ({"b/loss": 0.7}, 1)]


def test_a_name_of_ours_gets_the_tools_name_before_it(kept: Kept) -> None:
    from tensorboardX import SummaryWriter

    SummaryWriter().add_scalar("train/loss", 0.5, 3)
    assert kept.rows == [({"tensorboard/train/loss": 0.5}, 3)]


def test_what_goes_to_two_tools_is_kept_once(kept: Kept) -> None:
    from tensorboardX import SummaryWriter

    import wandb  # type: ignore[import-not-found]

    writer, run = SummaryWriter(), wandb.init()
    for step, loss in enumerate((0.5, 0.4)):
        writer.add_scalar("loss", loss, step)
        run.log({"loss": loss}, step=step)
    run.log({"loss": 0.3}, step=7)
    assert kept.rows == [({"loss": 0.5}, 0), ({"loss": 0.4}, 1), ({"wandb/loss": 0.3}, 7)]


def test_what_a_trainer_has_logged_itself_is_not_kept_again(kept: Kept) -> None:
    import wandb

    assert kept.hub.known("Lightning", {"loss": 0.5}, 3) == {"loss": 0.5}
    run = wandb.init()
    run.log({"loss": 0.5}, step=3)
    run.log({"loss": 0.4, "mine": 1.0}, step=4)
    assert kept.rows == [({"wandb/loss": 0.4, "mine": 1.0}, 4)]
    assert kept.hub.known("Lightning", {"mine": 2.0}, 5) == {"lightning/mine": 2.0}


def test_wandb_logs_and_config_are_kept(kept: Kept) -> None:
    import wandb

    run = wandb.init(project="p", config={"lr": 0.2})
    wandb.log({"loss": 1.0, "picture": object(), "val": {"acc": 0.5}})
    run.log({"loss": 0.5}, commit=False)
    run.log({"more": 2})
    run.log({"loss": 0.4}, step=10)
    run.log({"last": 0.1})
    run.config["lr"] = 0.3
    run.define_metric("val.*", step_metric="epoch", summary="min")
    wandb.alert("careful", "it grows")
    assert run.sent[-2:] == ["val.*", "careful"]
    assert kept.rows == [
        ({"loss": 1.0, "val.acc": 0.5}, 0),
        ({"loss": 0.5}, 1),
        ({"more": 2}, 1),
        ({"loss": 0.4}, 10),
        ({"last": 0.1}, 10),
    ]
    assert kept.config == {"lr": 0.3}
    rule, alert = kept.events
    assert isinstance(rule, MetricRule)
    assert (rule.name, rule.x, rule.summary) == ("val.*", "epoch", "min")
    assert isinstance(alert, Alert)
    assert (alert.title, alert.text) == ("careful", "it grows")


def test_nothing_is_left_on_a_run_of_wandb(kept: Kept) -> None:
    import wandb

    run = wandb.init()
    before = type(run).log
    kept.installed.remove()
    assert sorted(vars(run)) == ["config", "sent", "summary"]
    assert wandb.alert == run.alert
    assert type(run).log is before


def test_a_package_that_is_not_there_is_not_there(kept: Kept, tmp_path: Path) -> None:
    kept.imports.when("no_such_package_at_all", lambda module: None)
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_package_at_all'"):
        __import__("no_such_package_at_all")


def test_the_loader_of_a_package_is_as_it_was(kept: Kept) -> None:
    import wandb

    assert "exec_module" not in vars(wandb.__loader__)
    assert wandb.__spec__.loader is wandb.__loader__
