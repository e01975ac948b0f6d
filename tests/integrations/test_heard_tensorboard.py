"""An unmodified script that writes to TensorBoard, under `stepscope run`: we keep what TensorBoard has; it has all."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.integrations.imported import command, python

from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.read.folder import RunFolder

SCRIPT = """
import sys, types
out = sys.argv[1]
sys.modules["tensorboard.compat.notf"] = types.ModuleType("notf")  # TensorFlow takes long to import
import matplotlib; matplotlib.use("Agg")
from matplotlib.figure import Figure
import numpy as np, torch
import tensorboardX
from torch.utils.tensorboard import SummaryWriter
torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train, held_out = SummaryWriter(out + "/run"), SummaryWriter(out + "/val")
other = tensorboardX.SummaryWriter(out + "/x")
for i in range(6):
    loss = model(torch.randn(8, 4)).square().mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    train.add_scalar("loss", loss, i)
    held_out.add_scalar("loss", float(loss) * 2, i)
    other.add_scalar("loss", float(loss) * 3, i)
    train.add_scalar("train/loss", loss.item(), i)
    train.add_scalars("pair", {"a": i, "b": -i}, i)
for writer, tag in ((train, ""), (other, "x/")):
    writer.add_histogram(tag + "weights", model.weight, 5)
    writer.add_image(tag + "image", torch.rand(3, 8, 9), 1)
    writer.add_image(tag + "grey", np.zeros((8, 9)), 1, dataformats="HW")
    writer.add_images(tag + "images", torch.rand(4, 3, 8, 9), 2)
    writer.add_image_with_boxes(tag + "boxes", torch.rand(3, 20, 20), torch.tensor([[1.0, 2.0, 10.0, 12.0]]), 1)
    writer.add_text(tag + "note", "**hi**", 1)
    writer.add_figure(tag + "figure", Figure(), 1)
    writer.add_pr_curve(tag + "curve", np.array([0, 1, 1, 0]), np.array([0.1, 0.9, 0.8, 0.3]), 1)
train.add_figure("figures", [Figure(), Figure()], 1)
train.add_audio("sound", torch.rand(1, 800) * 2 - 1, 1, sample_rate=8000)
train.add_embedding(torch.rand(6, 4), metadata=list("abcdef"), global_step=1, tag="latent")
train.add_hparams({"lr": 0.1, "size": 8}, {"hparam/best": 0.5})
for writer in (train, held_out, other):
    writer.close()
print("weights", [float(w) for w in model.weight.flatten()])
"""


@dataclass
class Heard:
    run: RunFolder
    logs: Path
    plain_logs: Path
    said: str
    plain_said: str


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    folder = tmp_path_factory.mktemp("tensorboard")
    plain = python(SCRIPT, str(folder / "plain"), cwd=folder)
    line = (sys.executable, "-m", "stepscope", "run", "script.py", str(folder / "logs"))
    said = command(*line, cwd=folder, STEPSCOPE_DIR=str(folder / "store"))
    (run,) = runs(folder / "store")
    return Heard(run, folder / "logs", folder / "plain", said, plain)


@pytest.fixture(autouse=True)
def without_tensorflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.compat.notf", ModuleType("notf"))


def _events(folder: Path) -> Iterator[tuple[str, int, str, Any]]:
    """Everything but times in the event files of a folder: folder, step, tag, content."""
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    for file in sorted(folder.rglob("*tfevents*")):
        inner = file.parent.relative_to(folder).parts
        for event in LegacyEventFileLoader(str(file)).Load():
            for value in event.summary.value:
                yield inner[0], event.step, value.tag, value.SerializeToString()


def _scalars(folder: Path, name: str, tag: str) -> list[tuple[int, float]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    accumulator = EventAccumulator(str(folder / name), size_guidance={"scalars": 0})
    accumulator.Reload()
    return [(event.step, event.value) for event in accumulator.Scalars(tag)]


def test_every_scalar_is_what_tensorboard_has(heard: Heard) -> None:
    places = (
        ("loss", "run", "loss"),
        ("val/loss", "val", "loss"),
        ("x/loss", "x", "loss"),
        ("pair/a", "run/pair_a", "pair"),
    )
    for ours, place, tag in places:
        series = heard.run.series(ours)
        truth = _scalars(heard.logs, place, tag)
        assert series.steps.tolist() == [step for step, _ in truth]
        # Event files hold float32; what the script gave may have had more digits.
        np.testing.assert_array_equal(series.values.astype(np.float32), np.float32([value for _, value in truth]))
    theirs = heard.run.series("tensorboard/train/loss").values.tolist()
    np.testing.assert_allclose(heard.run.series("train/loss").values, theirs, rtol=1e-6)  # our own, of the same steps


def test_media_and_settings_are_kept(heard: Heard) -> None:
    kinds = heard.run.media_keys()
    wanted = {
        "weights": "histogram",
        "image": "image",
        "grey": "image",
        "images": "image",
        "boxes": "image",
        "note": "text",
        "figure": "figure",
        "curve": "curve",
    }
    wanted |= {f"x/{name}": kind for name, kind in wanted.items()}
    wanted |= {"figures": "figure", "sound": "audio", "embedding/latent": "embedding"}
    assert {name: kinds.get(name) for name in wanted} == wanted
    assert len(heard.run.media("figures")) == 2
    assert (heard.run.config["lr"], heard.run.config["size"]) == (0.1, 8)
    assert heard.run.summary["hparam/best"] == 0.5
    assert heard.run.faults == []
    assert heard.run.dropped == 0


def test_tensorboards_own_files_and_the_training_are_as_without_us(heard: Heard) -> None:
    with_us, without = list(_events(heard.logs)), list(_events(heard.plain_logs))
    unnamed = [(place, step, tag) for place, step, tag, _ in with_us]
    assert unnamed == [(place, step, tag) for place, step, tag, _ in without]
    differ = {one[2] for one, other in zip(with_us, without, strict=True) if one[3] != other[3]}
    assert differ <= {"_hparams_/session_start_info"}  # holds the time it began
    words = [line for line in heard.said.splitlines() if line.startswith("weights")]
    assert words == [line for line in heard.plain_said.splitlines() if line.startswith("weights")]
