"""The recorded config is what the script used, whatever library parsed it, with where each value comes from."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.integrations.config_scripts import CASES, STEP, Case
from tests.integrations.warm import Done, Warm

from stepscope.cli.show import command as show
from stepscope.runs.read.folder import RunFolder


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    one = Warm("torch")
    yield one
    one.close()


def _run(warm: Warm, folder: Path, script: str, *words: str) -> Done:
    return warm.stepscope(
        folder, STEP + script, "run", "--no-diagnose", "--dir", str(folder / "runs"), "train.py", *words
    )


def _runs(folder: Path) -> list[RunFolder]:
    paths = (folder / "runs").glob("*/meta.json")
    return sorted((RunFolder(path.parent) for path in paths), key=lambda one: one.created)


def _own(run: RunFolder) -> dict[str, tuple[object, str]]:
    """What was recorded of the script's settings; those seen on the optimizer and the loader are ours."""
    origins = run.config_origins
    found = {name: (value, origins.get(name, "")) for name, value in run.config.items()}
    return {name: one for name, one in found.items() if one[1] not in ("optimizer", "data loader")}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_config_is_what_the_script_used(case: Case, warm: Warm, tmp_path: Path) -> None:
    if case.needs and importlib.util.find_spec(case.needs) is None:
        pytest.skip(f"{case.needs} is not installed")
    for name, text in case.files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    settings = "".join(f"__import__('os').environ[{n!r}] = {v!r}\n" for n, v in case.environment.items())
    done = _run(warm, tmp_path, settings + case.script, *case.words.split())
    assert done.code == 0, done.err
    assert "failed and was skipped" not in done.err
    (run,) = _runs(tmp_path)
    recorded = _own(run)
    assert recorded == case.config
    for name, value in done.value("used").items():
        assert type(value)(recorded[case.used.get(name, name)][0]) == value


MULTIRUN = """
import hydra
@hydra.main(config_path=None, config_name=None, version_base=None)
def main(cfg):
    import torch
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=cfg.lr)
    for _ in range(3):
        net(torch.ones(4, 2)).sum().backward()
        optimizer.step()
main()
"""


def test_each_job_of_a_multirun_is_a_run_with_its_own_config_and_steps(warm: Warm, tmp_path: Path) -> None:
    pytest.importorskip("hydra")
    done = _run(warm, tmp_path, MULTIRUN, "-m", "+lr=0.5,0.25", "+epochs=3", "hydra.sweep.dir=sweeps/first")
    assert done.code == 0, done.err
    assert "failed and was skipped" not in done.err
    runs = _runs(tmp_path)
    epochs = {"epochs": (3, "command line")}
    lrs = [{"lr": (0.5, "command line")}, {"lr": (0.25, "command line")}]
    assert [_own(run) for run in runs] == [{**lr, **epochs} for lr in lrs]
    assert [run.group for run in runs] == ["first", "first"]
    assert [run.status for run in runs] == ["finished", "finished"]
    assert [run.series("train/loss").steps.tolist() for run in runs] == [[0, 1, 2], [0, 1, 2]]
    assert [run.config["optimizer/lr"] for run in runs] == [0.5, 0.25]


LIGHTNING = """
import torch
from lightning.pytorch import LightningModule
from lightning.pytorch.cli import LightningCLI
class Net(LightningModule):
    def __init__(self, lr: float = 0.1, depth: int = 2):
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Linear(2, 1)
        self.lr = lr
    def training_step(self, batch, index):
        return self.layer(batch).sum()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr)
    def train_dataloader(self):
        return torch.utils.data.DataLoader(torch.ones(4, 2))
LightningCLI(Net, trainer_defaults={"logger": False, "enable_checkpointing": False, "enable_progress_bar": False})
"""


def test_lightning_cli_keeps_what_was_given_and_the_models_own_arguments(warm: Warm, tmp_path: Path) -> None:
    pytest.importorskip("lightning")
    (tmp_path / "base.yaml").write_text("model:\n  depth: 3\n")
    words = ["fit", "--config", "base.yaml", "--model.lr", "0.5", "--trainer.max_steps", "1"]
    done = _run(warm, tmp_path, LIGHTNING, *words)
    assert done.code == 0, done.err
    (run,) = _runs(tmp_path)
    assert _own(run) == {
        "subcommand": ("fit", "command line"),
        "model/lr": (0.5, "command line"),
        "model/depth": (3, "base.yaml"),
        "trainer/max_steps": (1, "command line"),
    }


HUGGING_FACE = """
from dataclasses import dataclass
from transformers import HfArgumentParser
@dataclass
class DataArgs:
    lr: float = 0.1
    depth: int = 2
def main():
    (data,) = HfArgumentParser(DataArgs).parse_args_into_dataclasses()
    step(lr=data.lr, depth=data.depth)
main()
"""


def test_the_parser_of_hugging_face_is_the_scripts(warm: Warm, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    done = _run(warm, tmp_path, HUGGING_FACE, "--lr", "0.5")
    assert done.code == 0, done.err
    (run,) = _runs(tmp_path)
    assert _own(run) == {"lr": (0.5, "command line"), "depth": (2, "default")}


def test_show_says_where_each_value_comes_from(warm: Warm, tmp_path: Path) -> None:
    _run(warm, tmp_path, CASES[0].script, "digits", "--lr=0.5")
    (run,) = _runs(tmp_path)
    shown = CliRunner().invoke(show, [str(run.path)]).output
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert "lr 0.5 command line" in lines
    assert "depth 4 script" in lines
    assert "wide false default" in lines


def test_the_documented_import_for_hugging_face_works_under_run(warm: Warm, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    script = """
import stepscope.integrations.transformers
from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK
step(known=INTEGRATION_TO_CALLBACK["stepscope"].__name__)
"""
    done = _run(warm, tmp_path, script)
    assert done.code == 0, done.err
    assert done.value("used") == {"known": "StepscopeCallback"}
    assert "failed" not in done.err
