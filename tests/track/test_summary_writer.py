"""`stepscope.tensorboard.SummaryWriter` on its own, where TensorBoard is not installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import stepscope
from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.read.folder import RunFolder
from stepscope.tensorboard import SummaryWriter


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPSCOPE_DIR", str(tmp_path / "store"))
    return tmp_path / "store"


def found(store: Path) -> dict[str, RunFolder]:
    return {run.name: run for run in runs(store)}


def test_nothing_of_tensorboard_is_imported(store: Path) -> None:
    with SummaryWriter("runs/a") as writer:
        writer.add_scalar("loss", 1.0, 0)
    assert "tensorboard" not in sys.modules
    assert found(store)["a"].series("loss").values.tolist() == [1.0]


def test_each_writer_is_a_run(store: Path) -> None:
    train, val = SummaryWriter("runs/train"), SummaryWriter("runs/val")
    for step in range(5):
        train.add_scalar("loss", step, step)
        val.add_scalar("loss", -step, step)
    val.close()
    train.close()
    names = found(store)
    assert names["train"].series("loss").values.tolist() == [0, 1, 2, 3, 4]
    assert names["val"].series("loss").values.tolist() == [0, -1, -2, -3, -4]
    assert {run.status for run in names.values()} == {"finished"}


def test_an_open_run_is_used_and_left_open(store: Path) -> None:
    run = stepscope.init(name="mine", system=False, git=False)
    writer = SummaryWriter("runs/a")
    writer.add_scalar("loss", 2.0, 3)
    writer.close()
    assert not run.is_finished
    run.log({"after": 1.0})
    run.finish()
    assert sorted(found(store)["mine"].metrics())[:2] == ["after", "loss"]


def test_the_folder_is_there_for_checkpoints_and_the_default_has_the_comment(tmp_path: Path) -> None:
    writer = SummaryWriter(comment="_LR_0.1")
    writer.close()
    where = Path(writer.get_logdir())
    assert (tmp_path / where).is_dir()
    assert where.parts[0] == "runs"
    assert where.name.endswith("_LR_0.1")


def test_what_comes_after_close_goes_on_with_the_run(store: Path) -> None:
    writer = SummaryWriter("runs/a")
    writer.add_scalar("loss", 1.0, 1)
    writer.close()
    writer.add_scalar("loss", 2.0, 2)
    writer.close()
    (run,) = runs(store)
    assert run.series("loss").values.tolist() == [1.0, 2.0]
    assert len(run.attempts) == 2


def test_a_purge_step_takes_up_the_run_of_the_folder(store: Path) -> None:
    first = SummaryWriter("runs/a")
    for step in range(10):
        first.add_scalar("loss", step, step)
    first.close()
    again = SummaryWriter("runs/a", purge_step=4)
    for step in range(4, 6):
        again.add_scalar("loss", 100 + step, step)
    again.close()
    (run,) = runs(store)
    assert run.series("loss").values.tolist() == [0, 1, 2, 3, 104, 105]


def test_a_wall_time_is_kept(store: Path) -> None:
    writer = SummaryWriter("runs/a")
    writer.add_scalar("loss", 1.0, 1, walltime=1e9)
    writer.add_scalar("loss", 2.0, 2, walltime=1e9 + 0.25)
    writer.add_text("note", "x", 1, walltime=1e9)
    writer.close()
    run = found(store)["a"]
    assert run.series("loss").times.tolist() == [1e9, 1e9 + 0.25]
    assert run.media("note")[0].time == 1e9


def test_one_set_of_hyperparameters_is_the_config_and_further_ones_are_runs(store: Path) -> None:
    with SummaryWriter("runs/a") as writer:
        for number in range(3):
            settings = {"lr": 0.1 * number, "opt": "adam", "none": None, "t": torch.tensor([2.0])}
            writer.add_hparams(settings, {"acc": number}, run_name=f"trial{number}")
    names = found(store)
    assert sorted(names) == ["a", "a/trial1", "a/trial2"]
    assert dict(names["a"].config) == {"lr": 0.0, "opt": "adam", "t": 2.0}
    assert names["a/trial2"].config["lr"] == 0.2
    assert names["a/trial2"].meta.group == "a"
    assert [names[name].series("acc").values.tolist() for name in sorted(names)] == [[0], [1], [2]]
    with pytest.raises(TypeError):
        SummaryWriter("runs/b").add_hparams([], {})  # type: ignore[arg-type]
    stepscope.finish()


def test_what_cannot_be_kept_is_said_and_never_raised(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    writer = SummaryWriter("runs/a")
    calls: list[tuple[str, Any]] = [
        ("add_scalar", ("a", torch.zeros(3), 1)),
        ("add_scalar", ("b", object(), 1)),
        ("add_image", ("c", np.zeros((2, 2, 2, 2, 2)), 1)),
        ("add_image", ("d", np.zeros((3, 4)), 1)),
        ("add_histogram", ("e", None, 1)),
        ("add_audio", ("f", np.zeros((3, 4)), 1)),
        ("add_video", ("g", np.zeros((3, 4)), 1)),
        ("add_mesh", ("h", np.zeros((3, 4)))),
        ("add_pr_curve", ("i", [0, 1], [0.5])),
        ("add_embedding", ("j",)),
        ("add_graph", (None,)),
        ("add_onnx_graph", ("nothing.onnx",)),
        ("add_text", ("k", 5)),
        ("add_histogram_raw", ("l", 0, 1, 2, 3, 4, [1], [1, 2])),
        ("add_scalar", ("m", 1.0, "no step")),
    ]
    for name, args in calls:
        getattr(writer, name)(*args)
    writer.add_scalar("fine", 1.0, 1)
    writer.close()
    said = capsys.readouterr().err
    run = found(store)["a"]
    assert run.series("fine").values.tolist() == [1.0]
    assert run.media() == []
    for key in "abcdefghi":
        assert f"'{key}'" in said, key


def test_empty_and_odd_values_have_histograms(store: Path) -> None:
    writer = SummaryWriter("runs/a")
    writer.add_histogram("bad", np.array([np.nan, np.inf, 1.0, 2.0]), 1)
    writer.add_histogram("auto", np.arange(1000), 1, bins="auto", max_bins=5)
    writer.add_histogram_raw("raw", 0, 3, 4, 6, 14, [1, 2, 3], [1, 1, 2], 1)
    writer.close()
    run = found(store)["a"]
    by_key = {media.key: media.meta for media in run.media()}
    assert (by_key["bad"]["nan"], by_key["bad"]["pos_inf"], by_key["bad"]["total"]) == (1, 1, 4)
    assert by_key["raw"]["mean"] == 1.5
    assert by_key["auto"]["bins"] == 6  # eleven, two by two, as TensorBoard does


def test_a_graph_leaves_the_model_and_the_random_numbers_as_they_were(store: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5))
    model[2].eval()
    state = {name: value.clone() for name, value in model.state_dict().items()}
    random = torch.random.get_rng_state()
    writer = SummaryWriter("runs/a")
    writer.add_graph(model, torch.zeros(2, 4))
    writer.close()
    assert torch.equal(torch.random.get_rng_state(), random)
    assert [module.training for module in model.modules()] == [True, True, True, False]
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())
    (graph,) = found(store)["a"].media("graph")
    assert graph.kind == "step"


def test_an_exception_inside_the_with_block_is_the_end_of_the_run(store: Path) -> None:
    def train() -> None:
        with SummaryWriter("runs/a") as writer:
            writer.add_scalar("loss", 1.0, 1)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        train()
    assert found(store)["a"].status == "failed"


def test_the_file_writer_takes_finished_summaries(store: Path) -> None:
    from stepscope.eventfiles.wire import put_bytes, put_float, put_text

    class Summary:
        def SerializeToString(self) -> bytes:
            return put_bytes(1, put_text(1, "loss") + put_float(2, 0.5))

    writer = SummaryWriter("runs/a")
    assert writer.file_writer is not None
    writer.file_writer.add_summary(Summary(), 7)
    writer.close()
    assert writer.file_writer is None
    series = found(store)["a"].series("loss")
    assert (series.steps.tolist(), series.values.tolist()) == ([7], [0.5])


def test_lines_and_layouts(store: Path) -> None:
    writer = SummaryWriter("runs/a")
    writer.add_scalars("loss", {"train": 1.0, "val": 2.0}, 3)
    writer.add_custom_scalars_multilinechart(["loss/train"], "c", "t")
    writer.close()
    run = found(store)["a"]
    assert run.series("loss/val").steps.tolist() == [3]
    (layout,) = run.media("custom_scalars/json")
    assert json.loads(run.media_bytes(layout)) == {"c": {"t": ["Multiline", ["loss/train"]]}}


def test_what_tensorboardx_asks_for_is_taken(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_DIR", str(store))
    with SummaryWriter(logdir=tmp_path / "here") as writer:
        writer.add_hparams({"lr": 0.1}, {"loss": 1.0}, name="first")
        assert writer.file_writer is not None
        writer.file_writer.event_writer.flush()
    with SummaryWriter(tmp_path / "rank1", write_to_disk=False) as silent:
        silent.add_scalar("loss", 1.0, 0)
    assert not (tmp_path / "rank1").exists()
    assert len(stepscope.runs(store)) == 1
