"""What a script sends to TensorBoard or W&B is kept too, and sent as ever. Stand-ins have the packages' own shapes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stepscope.launch.imports import Imports
from stepscope.launch.tensorboard import watch_tensorboard
from stepscope.launch.wandb import watch_wandb
from stepscope.record.restore import Installed

WRITER = """
class SummaryWriter:
    def __init__(self): self.written = []
    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None): self.written.append((tag, scalar_value))
    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None): self.written.append(main_tag)
    def add_text(self, tag, text_string, global_step=None, walltime=None): self.written.append(tag)
    def add_hparams(self, hparam_dict, metric_dict, hparam_domain_discrete=None): self.written.append("hparams")
"""
WANDB = """
class _Run:
    def __init__(self, config): self.config = config; self.sent = []
    def log(self, data, step=None, commit=None): self.sent.append(data)
class sdk:
    class wandb_run:
        Run = _Run
run = None
def init(project=None, config=None):
    global run, log
    run = _Run(config or {}); log = run.log
    return run
"""


class Kept:
    def __init__(self) -> None:
        self.rows: list[tuple[dict[str, Any], int | None]] = []
        self.settings: dict[str, Any] = {}
        self.imports = Imports()
        self.installed = Installed()

    def log(self, values: Any, step: int | None) -> None:
        self.rows.append((dict(values), step))


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
    watch_tensorboard(found.imports, found.installed, found.log, found.settings.update)
    watch_wandb(found.imports, found.installed, found.log, found.settings.update)
    yield found
    found.installed.remove()
    found.imports.remove()
    for name in ("tensorboardX", "tensorboardX.writer", "wandb"):
        sys.modules.pop(name, None)


def test_tensorboard_scalars_are_kept_with_their_steps(kept: Kept) -> None:
    from tensorboardX import SummaryWriter  # type: ignore[import-not-found]

    writer = SummaryWriter()
    writer.add_scalar("loss/train", 0.5, 3)
    writer.add_scalars("acc", {"a": 1.0, "b": 2.0}, global_step=4)
    writer.add_hparams({"lr": 0.1}, {"best": 0.9})
    assert writer.written == [("loss/train", 0.5), "acc", "hparams"]
    assert kept.rows == [
        ({"tensorboard/loss/train": 0.5}, 3),
        ({"tensorboard/acc/a": 1.0, "tensorboard/acc/b": 2.0}, 4),
        ({"tensorboard/hparams/best": 0.9}, None),
    ]
    assert kept.settings == {"lr": 0.1}


def test_wandb_logs_and_config_are_kept(kept: Kept) -> None:
    import wandb  # type: ignore[import-not-found]

    run = wandb.init(project="p", config={"lr": 0.2})
    wandb.log({"loss": 1.0, "picture": object()})
    run.log({"loss": 0.5})
    run.log({"loss": 0.4}, step=10)
    assert len(run.sent) == 3
    assert kept.rows == [({"wandb/loss": 1.0}, 0), ({"wandb/loss": 0.5}, 1), ({"wandb/loss": 0.4}, 10)]
    assert kept.settings == {"lr": 0.2}


def test_a_package_that_is_not_there_is_not_there(kept: Kept, tmp_path: Path) -> None:
    kept.imports.when("no_such_package_at_all", lambda module: None)
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_package_at_all'"):
        __import__("no_such_package_at_all")


def test_the_loader_of_a_package_is_as_it_was(kept: Kept) -> None:
    import wandb

    assert "exec_module" not in vars(wandb.__loader__)
    assert wandb.__spec__.loader is wandb.__loader__
