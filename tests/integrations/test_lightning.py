"""Lightning with the real package: unchanged scripts under `stepscope run`, and the logger, callback and profiler."""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import lightning.pytorch as lp
import pytest
import torch
import torch.nn.functional as F
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stepscope.errors import UsageError
from stepscope.profile.profile import Profile
from stepscope.records.profile import StepParts
from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.read.folder import RunFolder

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def beside(name: str) -> Any:
    """A module of this folder: tests are no package here."""
    spec = importlib.util.spec_from_file_location(f"integrations_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules.setdefault(spec.name, importlib.util.module_from_spec(spec))
    spec.loader.exec_module(module)
    return module


forked, scripts = beside("forked"), beside("lightning_scripts")

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::lightning.fabric.utilities.rank_zero.LightningDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STEPSCOPE_DIR", str(tmp_path / "runs"))
    monkeypatch.setenv("STEPSCOPE_QUIET", "1")
    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)


def only(tmp_path: Path) -> RunFolder:
    (run,) = runs(tmp_path / "runs")
    return run


def steps(run: RunFolder, name: str) -> list[int]:
    return [int(step) for step in run.series(name).steps]


def values(run: RunFolder, name: str) -> list[float]:
    return [float(value) for value in run.series(name).values]


def written(tmp_path: Path, source: str) -> str:
    (tmp_path / "train.py").write_text(source)
    return "train.py"


def phases(run: RunFolder) -> StepParts:
    profile = Profile.load(next((run.path / "profiles").glob("simple*")))
    parts = profile.phases(0)
    assert parts is not None
    return parts


# -- unchanged scripts ------------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    alone: Any
    watched: Any
    run: RunFolder


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Pair]:
    """A sound script by its name, run by plain Python and by `stepscope run`; each once for all tests."""
    known: dict[str, Pair] = {}

    def give(name: str) -> Pair:
        if name not in known:
            folder = tmp_path_factory.mktemp(name)
            script = written(folder, scripts.sound(name))
            alone = forked.plain(folder, script)
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("STEPSCOPE_DIR", str(folder / "runs"))
                watched = forked.stepscope(folder, "run", script)
            assert alone.code == watched.code == 0, watched.text
            known[name] = Pair(alone, watched, only(folder))
        return known[name]

    return give


@pytest.mark.parametrize("name", list(scripts.SOUND))
def test_a_sound_script_trains_to_the_same_bits_and_nothing_is_found(name: str, trained: Callable[[str], Pair]) -> None:
    alone, watched, run = trained(name)
    assert watched.line("TOLD") == alone.line("TOLD")
    assert [one.rule for one in run.findings if one.severity != "info"] == []
    assert run.faults == []
    told = alone.line("TOLD").split(maxsplit=3)
    for key, value in ast.literal_eval(told[3]).items():
        assert values(run, key)[-1] == pytest.approx(value, rel=1e-6), key


def test_steps_validation_and_epochs_are_the_trainers(trained: Callable[[str], Pair]) -> None:
    run = trained("plain").run
    assert steps(run, "train/loss") == steps(run, "train/grad_norm") == list(range(24))
    assert values(run, "train/loss") == pytest.approx(values(run, "train_loss"), rel=1e-6)
    assert steps(run, "val_loss") == [11, 23, 24], "two epochs of twelve, and `validate` after them; no sanity check"
    assert "eval/loss" not in run.metrics(), "the trainer has results of its own"
    assert run.config["lr"] == 0.01
    parts = phases(run)
    assert parts.steps == list(range(24)), "the sanity check is in none of them"
    keys = [part.key for part in parts.parts]
    for row, wall in zip(parts.parts_ns, parts.wall_ns, strict=True):
        assert sum(row) == wall
        assert all(row[keys.index(key)] > 0 for key in ("data", "forward", "backward", "optimizer"))


def test_the_loss_of_an_accumulated_step_is_the_mean_of_its_batches(trained: Callable[[str], Pair]) -> None:
    run = trained("accumulate").run
    assert steps(run, "train/loss") == list(range(6)), "24 batches, four to a step"
    assert len(phases(run).steps) == 6
    logged = ast.literal_eval(trained("accumulate").alone.line("LOSSES").split(maxsplit=1)[1])
    means = [sum(logged[i : i + 4]) / 4 for i in range(0, 24, 4)]
    assert values(run, "train/loss") == pytest.approx(means, rel=1e-5)


def test_both_optimizers_of_a_gan_stand_at_the_same_steps(trained: Callable[[str], Pair]) -> None:
    run = trained("gan").run
    assert steps(run, "train/g/loss") == steps(run, "train/d/loss") == list(range(24))
    assert values(run, "train/g/loss") == pytest.approx(values(run, "g_loss"), rel=1e-6)
    assert values(run, "train/d/loss") == pytest.approx(values(run, "d_loss"), rel=1e-6)


def test_a_resumed_training_goes_on_counting(trained: Callable[[str], Pair]) -> None:
    run = trained("resume").run
    assert steps(run, "train/loss") == list(range(48))
    assert values(run, "train/loss") == pytest.approx(values(run, "train_loss"), rel=1e-6)


def test_a_search_for_a_learning_rate_is_no_training(trained: Callable[[str], Pair]) -> None:
    assert steps(trained("tuner").run, "train/loss") == list(range(24))


@pytest.mark.parametrize("rule", list(scripts.BUGS))
def test_a_bug_is_found_on_the_line_of_the_module(rule: str, tmp_path: Path) -> None:
    line, _ = scripts.BUGS[rule]
    source = scripts.buggy(rule)
    script = written(tmp_path, source)
    outcome = forked.stepscope(tmp_path, "run", script)
    found = [one for one in only(tmp_path).findings if one.severity != "info" and not one.rule.startswith("perf.data")]
    assert [one.rule for one in found] == [rule], outcome.text
    assert Path(str(found[0].file)).name == "train.py"
    assert source.splitlines()[int(str(found[0].line)) - 1].strip() == line
    assert all("site-packages" not in str(note.file) for note in found[0].related)
    if rule == "shape.linear-in":
        assert outcome.code == 1
        assert "in training_step" in outcome.text or "in validation_step" in outcome.text


def test_check_takes_one_batch_of_each_pass_after_two_epochs(tmp_path: Path) -> None:
    script = written(tmp_path, scripts.HEAD + "m = Base(); t = trainer(max_epochs=5); t.fit(m, tr, va)\n")
    outcome = forked.stepscope(tmp_path, "check", script)
    assert outcome.code == 0, outcome.text
    assert "nothing suspicious was found" in outcome.text
    assert "after 2 epochs one batch of each pass, and the script finished" in outcome.text


def test_profile_finds_the_steps_of_a_lightning_script(tmp_path: Path) -> None:
    script = written(tmp_path, scripts.HEAD + "m = Base(); t = trainer(max_epochs=50); t.fit(m, tr, va)\n")
    outcome = forked.stepscope(tmp_path, "profile", "--profiler", "simple", script)
    assert outcome.code == 0, outcome.text
    for phase in ("Data", "Forward", "Backward", "Optimizer"):
        assert phase.lower() in outcome.text.lower(), outcome.text


def test_the_example_runs_unchanged_in_a_process_of_its_own(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "stepscope",
        "run",
        str(ROOT / "examples" / "lightning_digits.py"),
        "--epochs",
        "2",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split("accuracy")[1]) > 0.8
    run = only(tmp_path)
    assert run.findings == [] or [one.severity for one in run.findings] == ["info"]
    assert steps(run, "train/loss") == list(range(46))
    assert steps(run, "val_loss") == [22, 45]
    assert (run.config["lr"], run.config["width"], run.config["batch_size"]) == (3e-3, 32, 64)


# -- logger, callback, profiler --------------------------------------------------------------------------------


class Net(lp.LightningModule):
    def __init__(self, lr: float = 0.05) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
        self.example_input_array = torch.zeros(3, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.net(x)
        return out

    def training_step(self, batch: Any, index: int) -> torch.Tensor:
        loss = F.cross_entropy(self(batch[0]), batch[1])
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch: Any, index: int) -> None:
        self.log("val_loss", F.cross_entropy(self(batch[0]), batch[1]))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), self.hparams["lr"])


def data() -> DataLoader[Any]:
    made = torch.Generator().manual_seed(1)
    x = torch.randn(128, 4, generator=made)
    return DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), 16)


def fitted(make: Callable[..., lp.Trainer] = lp.Trainer, model: Any = None, **given: Any) -> tuple[Any, Any]:
    torch.manual_seed(0)
    usual = {"max_epochs": 2, "accelerator": "cpu", "log_every_n_steps": 1, "enable_progress_bar": False}
    trainer = make(**{**usual, "enable_model_summary": False, "enable_checkpointing": False, **given})
    net = Net() if model is None else model
    trainer.fit(net, data(), data())
    return trainer, net


def weights(net: nn.Module) -> list[float]:
    return [float(p.detach().double().sum()) for p in net.parameters()]


def test_the_logger_keeps_what_the_trainer_logs(tmp_path: Path) -> None:
    from stepscope.integrations.lightning import StepscopeLogger

    logger = StepscopeLogger("demo", "first", tags=["a"], log_model="all", log_graph=True)
    trainer, _ = fitted(logger=logger, enable_checkpointing=True, callbacks=[ModelCheckpoint(monitor="val_loss")])
    logger.log_image("inputs", [torch.rand(4, 4), torch.rand(4, 4)], caption=["a", "b"], step=3)
    logger.log_table("rows", columns=["a", "b"], data=[[1, 2], [3, 4]])
    logger.log_text("texts", columns=["said"], data=[["yes"]])
    logger.log_hyperparams({"extra": {"deep": 2}})
    logger.experiment.finish()
    run = only(tmp_path)
    assert (run.project, run.name, run.tags) == ("demo", "first", ["a"])
    assert (logger.name, logger.version) == ("demo", run.id)
    assert (run.config["lr"], run.config["extra/deep"]) == (0.05, 2)
    assert steps(run, "train_loss") == list(range(16))
    assert values(run, "val_loss")[-1] == float(trainer.callback_metrics["val_loss"])
    assert values(run, "epoch")[-1] == 1
    assert {"model"} == {artifact.name for artifact in run.artifacts}
    assert "best" in run.artifacts[-1].aliases
    kept = set(run.media_keys())
    assert {"inputs", "rows", "texts", "model"} <= kept
    best = Path(trainer.checkpoint_callback.best_model_path).absolute()
    assert best.parent == Path("demo", run.id, "checkpoints").absolute()


def test_training_is_the_same_with_all_three(tmp_path: Path) -> None:
    from stepscope.integrations.lightning import StepscopeCallback, StepscopeLogger, StepscopeProfiler

    _, alone = fitted(logger=False)
    callback, profiler = StepscopeCallback(), StepscopeProfiler()
    _, watched = fitted(logger=StepscopeLogger("demo", log_graph=True), callbacks=[callback], profiler=profiler)
    assert weights(watched) == weights(alone)
    assert callback.findings == []
    run = only(tmp_path)
    assert steps(run, "watched/train/loss") == list(range(16))
    assert values(run, "watched/train/loss") == pytest.approx(values(run, "train_loss"), rel=1e-6)
    assert profiler.window is not None
    assert len(profiler.window.profiles) == 1
    assert len(list((run.path / "profiles").iterdir())) == 3, "phases of the callback and of the profiler, a window"


def test_the_callback_finds_bugs_and_explains_a_crash(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from stepscope.integrations.lightning import StepscopeCallback

    class Wrong(Net):
        def training_step(self, batch: Any, index: int) -> torch.Tensor:
            return F.cross_entropy(self(batch[0]).softmax(1), batch[1])

    callback = StepscopeCallback("demo")
    fitted(logger=False, callbacks=[callback], model=Wrong())
    assert [one.rule for one in callback.findings] == ["loss.softmax-before-ce"]
    assert "softmax is applied here" in capfd.readouterr().err

    class Breaks(Net):
        def training_step(self, batch: Any, index: int) -> torch.Tensor:
            return F.cross_entropy(self.net[2](batch[0]), batch[1])

    crashed = StepscopeCallback("demo")
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        fitted(logger=False, callbacks=[crashed], model=Breaks())
    assert [one.rule for one in crashed.findings] == ["shape.linear-in"]


def test_the_profilers_phases_are_lightnings_actions() -> None:
    from stepscope.integrations.lightning import StepscopeProfiler

    profiler = StepscopeProfiler(schedule=None)
    fitted(logger=False, profiler=profiler)
    parts = profiler.phases.result()
    assert parts.steps == list(range(16))
    keys = [part.key for part in parts.parts]
    for row in parts.parts_ns:
        assert all(row[keys.index(key)] > 0 for key in ("data", "forward", "backward", "optimizer"))
    calls, seconds = profiler.seconds["run_training_batch"]
    assert calls == 16
    batch_ns = sum(sum(row) - row[keys.index("data")] for row in parts.parts_ns)
    assert batch_ns / 1e9 > 0.9 * seconds, "what runs in a batch is in the steps"
    assert "run_training_batch" in profiler.summary()


KILLED = """
import time

class Net(Base):
    def training_step(self, batch, i):
        x, y = batch
        if i == 3 and self.global_rank == 1:
            x = x[:, :7]
        if i == 3 and self.global_rank == 0:
            time.sleep(600)  # Lightning kills it once the other rank has gone
        return F.cross_entropy(self(x), y)

m = Net(); t = trainer(devices=2, strategy="ddp"); t.fit(m, tr)
"""


@pytest.mark.slow
def test_a_crash_of_rank_1_is_the_runs_also_when_rank_0_is_killed(tmp_path: Path) -> None:
    script = written(tmp_path, scripts.HEAD + KILLED)
    command = [sys.executable, "-m", "stepscope", "run", script]
    quiet = {**os.environ, "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=quiet)
    assert done.returncode != 0
    run = only(tmp_path)
    assert (run.standing.status, run.standing.rank) == ("failed", 1), done.stderr
    assert "mat1 and mat2 shapes cannot be multiplied" in str(run.standing.error)
    assert [one.rule for one in run.findings] == ["shape.linear-in"]
    assert done.stderr.count("error[shape.linear-in]") == 1


@pytest.mark.slow
def test_the_other_name_of_the_package_and_fabric(tmp_path: Path) -> None:
    source = """
import sys
import pytorch_lightning as pl
assert "lightning.pytorch" not in sys.modules
from stepscope.integrations.lightning import StepscopeCallback, StepscopeLogger, StepscopeProfiler
assert issubclass(StepscopeLogger, pl.loggers.Logger) and issubclass(StepscopeCallback, pl.Callback)
assert issubclass(StepscopeProfiler, pl.profilers.Profiler)
import torch
from torch.utils.data import DataLoader, TensorDataset
class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(2, 1)
    def training_step(self, b, i):
        loss = self.l(b[0]).square().mean()
        self.log("loss", loss)
        return loss
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
quiet = dict(enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False)
t = pl.Trainer(accelerator="cpu", max_epochs=1, logger=StepscopeLogger("other"), callbacks=[StepscopeCallback()],
               profiler=StepscopeProfiler(schedule=None), log_every_n_steps=1, **quiet)
t.fit(Net(), DataLoader(TensorDataset(torch.randn(32, 2)), 8))
import stepscope
stepscope.finish()
from lightning.fabric import Fabric
fabric = Fabric(accelerator="cpu", loggers=StepscopeLogger("fabric"))
for i in range(3):
    fabric.log("loss", torch.tensor(1.0 / (i + 1)), step=i)
"""
    script = tmp_path / "other.py"
    script.write_text(source)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {run.project: run for run in runs(tmp_path / "runs")}
    assert steps(found["other"], "loss") == steps(found["other"], "watched/train/loss") == [0, 1, 2, 3]
    assert values(found["fabric"], "loss") == pytest.approx([1, 1 / 2, 1 / 3])


def test_mistakes_are_named() -> None:
    from stepscope.integrations.lightning import StepscopeLogger

    with pytest.raises(UsageError, match="log_model='best' is not known"):
        StepscopeLogger(log_model="best")  # type: ignore[arg-type]
    logger = StepscopeLogger("demo")
    with pytest.raises(UsageError, match="put it in a list"):
        logger.log_image("x", torch.rand(4, 4))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="one entry for each of the 2 items"):
        logger.log_image("x", [torch.rand(4, 4), torch.rand(4, 4)], caption=["a"])
    with pytest.raises(UsageError, match="expected a dict"):
        logger.log_metrics(3.0)


def test_examples_in_docstrings_hold() -> None:
    import doctest

    from stepscope.integrations.lightning import profiler

    result = doctest.testmod(profiler)
    assert result.attempted
    assert not result.failed
