"""TensorBoard, both ways: what its writers wrote comes in with every value, what we write it reads with every value."""

from __future__ import annotations

import inspect
import json
import math
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import STORE_EVERYTHING_SIZE_GUIDANCE, EventAccumulator
from tensorboard.util import tensor_util
from torch.utils.tensorboard import SummaryWriter

from stepscope.cli.main import main
from stepscope.export.as_tensorboard import write_tensorboard
from stepscope.importers.import_writer import Landing
from stepscope.importers.tensorboard import TensorBoardSource
from stepscope.inspect.logged import read_logged
from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.read.folder import RunFolder, open_run

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
RANDOM = np.random.default_rng(7)
IMAGE = RANDOM.random((3, 6, 8))
BATCH = RANDOM.random((5, 3, 6, 8))
VALUES = RANDOM.normal(size=500)
LABELS, SCORES = RANDOM.integers(0, 2, 200), RANDOM.random(200)
SOUND = np.sin(np.arange(400) / 9.0)


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 8), torch.nn.Linear(8, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x)))


def fill(writer: Any, *, is_x: bool = False) -> None:
    """The same calls for every writer with this interface."""
    for step in range(300):
        writer.add_scalar("loss/train", math.exp(-step / 50) + 0.01 * math.sin(step), step)
        if step % 10 == 0:
            writer.add_scalar("acc", step / 300, step, walltime=1.6e9 + step)
            writer.add_scalars("both", {"a": step, "b": -step}, step)
    for value in (float("nan"), float("inf"), float("-inf"), 1e38, -0.0):
        writer.add_scalar("odd", value, 5)
    writer.add_scalar("back", 1.0, -3)
    writer.add_scalar("far", 2.0, 2**40)
    writer.add_scalar("nostep", 3.0)
    writer.add_histogram("weights", VALUES, 1)
    writer.add_histogram("same", np.full(10, 0.5), 1)
    writer.add_image("image", IMAGE, 2)
    writer.add_images("images", BATCH, 2)
    writer.add_text("note", "# title\n\nwords", 4)
    writer.add_pr_curve("pr", LABELS, SCORES, 6)
    if not is_x:  # tensorboardX wants another package for sounds
        writer.add_audio("sound", torch.from_numpy(SOUND), 3, sample_rate=8000)
        writer.add_scalar("new", 0.1, 7, new_style=True)
        writer.add_scalar("new double", 0.1, 7, new_style=True, double_precision=True)
        writer.add_tensor("tensor", torch.arange(6.0).reshape(2, 3), 1)
        faces = torch.tensor([[[0, 1, 2], [1, 2, 3]]])
        writer.add_mesh("mesh", torch.rand(1, 4, 3), colors=torch.full((1, 4, 3), 200), faces=faces, global_step=2)
        writer.add_custom_scalars({"losses": {"train": ["Multiline", ["loss/train"]]}})
        writer.add_graph(Net(), torch.rand(1, 4))
    writer.add_embedding(BATCH.reshape(5, -1), metadata=list("abcde"), global_step=3, tag="vectors")
    writer.add_hparams({"lr": 0.1, "layers": 3, "opt": "adam"}, {"hparam/acc": 0.9})
    writer.close()


TF = """
import sys, os
import numpy as np, tensorflow as tf
from tensorboard.plugins.hparams import api
writer = tf.summary.create_file_writer(sys.argv[1])
with writer.as_default():
    api.hparams({"lr": 0.5, "act": "relu", "wide": True})
    for step in range(200):
        tf.summary.scalar("loss", 1 / (1 + step), step=step)
        tf.summary.scalar("double", tf.constant(step / 7, dtype=tf.float64), step=step)
    tf.summary.histogram("weights", np.arange(100) / 3, step=1)
    tf.summary.image("images", np.arange(3 * 6 * 8 * 3).reshape(3, 6, 8, 3) / 432, step=2, max_outputs=3)
    tf.summary.audio("sound", np.sin(np.arange(400) / 9).astype("f4")[None, :, None], 8000, step=3)
    tf.summary.text("note", "# title", step=4)
    tf.summary.text("table", [["a", "b"], ["c", "d"]], step=4)
    tf.summary.write("unknown", tf.range(5), step=2)
    tf.summary.trace_on()
    tf.function(lambda x: x * x + 1)(tf.ones(2))
    tf.summary.trace_export("traced", step=0)
    tf.summary.graph(tf.function(lambda x: x * x + 1).get_concrete_function(tf.TensorSpec([2], tf.float32)).graph)
writer.close()
"""


@pytest.fixture(scope="module", autouse=True)
def without_tensorflow() -> Iterator[None]:
    """TensorBoard takes its own file access in this process; importing TensorFlow would take most of the time."""
    sys.modules["tensorboard.compat.notf"] = types.ModuleType("notf")
    yield
    del sys.modules["tensorboard.compat.notf"]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that three writers have filled."""
    import os

    from tensorboardX import SummaryWriter as XWriter

    folder = tmp_path_factory.mktemp("logs")
    env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    tensorflow = subprocess.Popen([sys.executable, "-c", TF, str(folder / "tf")], env=env)
    fill(SummaryWriter(str(folder / "torch")))
    fill(XWriter(str(folder / "x")), is_x=True)
    assert tensorflow.wait(600) == 0
    return folder


@pytest.fixture(scope="module")
def imported(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunFolder]:
    store = tmp_path_factory.mktemp("store")
    landed = Landing(TensorBoardSource(logs), store).look()
    assert landed.troubles == []
    return {run.name: run for run in runs(store)}


def theirs(folder: Path) -> EventAccumulator:
    accumulator = EventAccumulator(str(folder), size_guidance=STORE_EVERYTHING_SIZE_GUIDANCE)
    accumulator.Reload()
    return accumulator


def by_step(events: Any) -> tuple[list[int], list[float], list[Any]]:
    found = sorted(events, key=lambda event: event.step)
    return [e.step for e in found], [e.wall_time for e in found], found


def same_scalars(run: RunFolder, folder: Path, names: dict[str, str] | None = None) -> int:
    accumulator = theirs(folder)
    tags = accumulator.Tags()["scalars"]
    for tag in tags:
        steps, times, events = by_step(accumulator.Scalars(tag))
        series = run.series((names or {}).get(tag, tag))
        assert series.steps.tolist() == steps, tag
        assert series.times.tolist() == times, tag
        np.testing.assert_array_equal(series.values, [event.value for event in events])
    return len(tags)


def test_each_folder_is_a_run_and_the_helpers_folders_belong_to_theirs(imported: dict[str, RunFolder]) -> None:
    assert sorted(imported) == ["tf", "torch", "x"]
    assert dict(imported["torch"].config) == {"lr": 0.1, "layers": 3, "opt": "adam"}
    assert dict(imported["x"].config) == {"lr": 0.1, "layers": 3, "opt": "adam"}
    assert dict(imported["tf"].config) == {"lr": 0.5, "act": "relu", "wide": True}
    assert imported["torch"].series("both/b").values.tolist() == [-step for step in range(0, 300, 10)]
    assert imported["x"].series("both/b").values.tolist() == [-step for step in range(0, 300, 10)]
    np.testing.assert_array_equal(imported["torch"].series("hparam/acc").values, [np.float32(0.9)])


@pytest.mark.parametrize(("name", "count"), [("torch", 6), ("x", 6)])
def test_every_scalar_step_and_time_is_equal(name: str, count: int, logs: Path, imported: dict[str, RunFolder]) -> None:
    assert same_scalars(imported[name], logs / name) >= count
    lines = {"torch": "both_a", "x": "both/a"}
    assert same_scalars(imported[name], logs / name / lines[name], {"both": "both/a"}) == 1


@pytest.mark.parametrize("name", ["torch", "tf"])
def test_every_scalar_of_the_second_generation_is_equal(name: str, logs: Path, imported: dict[str, RunFolder]) -> None:
    accumulator = theirs(logs / name)
    tags = list(accumulator.PluginTagToContent("scalars"))
    assert len(tags) == 2
    for tag in tags:
        steps, times, events = by_step(accumulator.Tensors(tag))
        series = imported[name].series(tag)
        assert (series.steps.tolist(), series.times.tolist()) == (steps, times)
        assert series.values.tolist() == [float(tensor_util.make_ndarray(e.tensor_proto)) for e in events]


@pytest.mark.parametrize("name", ["torch", "x"])
def test_pictures_and_texts_are_the_same_bytes(name: str, logs: Path, imported: dict[str, RunFolder]) -> None:
    accumulator, run = theirs(logs / name), imported[name]
    for tag in ("image", "images"):
        (event,) = accumulator.Images(tag)
        (media,) = run.media(tag)
        assert run.media_bytes(media) == event.encoded_image_string
        assert (media.step, media.time, media.kind) == (event.step, event.wall_time, "image")
        assert (media.meta["width"], media.meta["height"]) == (event.width, event.height)
    (note,) = run.media("note")
    assert run.media_bytes(note).decode() == "# title\n\nwords"


def test_histograms_have_the_same_counts_and_moments(logs: Path, imported: dict[str, RunFolder]) -> None:
    run = imported["torch"]
    (event,) = theirs(logs / "torch").Histograms("weights")
    their = event.histogram_value
    (media,) = run.media("weights")
    edges, counts = np.split(np.frombuffer(run.media_bytes(media), "<f8"), [media.meta["bins"] + 1])
    assert counts.sum() == their.num == media.meta["total"] == 500
    np.testing.assert_array_equal(counts, np.trim_zeros(their.bucket))
    assert (media.meta["min"], media.meta["max"]) == (VALUES.min(), VALUES.max()) == (edges[0], edges[-1])
    assert media.meta["mean"] == pytest.approx(VALUES.mean(), rel=1e-12)
    assert media.meta["std"] == pytest.approx(VALUES.std(), rel=1e-9)
    limits = [limit for limit in their.bucket_limit if VALUES.min() < limit < VALUES.max()]
    np.testing.assert_array_equal(edges[1:-1], limits)
    (same,) = run.media("same")
    assert same.meta["total"] == 10
    assert same.meta["min"] == same.meta["max"] == 0.5


def test_histograms_of_the_second_generation(logs: Path, imported: dict[str, RunFolder]) -> None:
    run = imported["tf"]
    (event,) = theirs(logs / "tf").Tensors("weights")
    buckets = tensor_util.make_ndarray(event.tensor_proto)
    (media,) = run.media("weights")
    edges, counts = np.split(np.frombuffer(run.media_bytes(media), "<f8"), [media.meta["bins"] + 1])
    np.testing.assert_array_equal(counts, buckets[:, 2])
    np.testing.assert_array_equal(edges[:-1], buckets[:, 0])
    assert edges[-1] == buckets[-1, 1]


def test_precision_and_recall_are_equal_at_each_threshold(logs: Path, imported: dict[str, RunFolder]) -> None:
    run = imported["torch"]
    (event,) = theirs(logs / "torch").Tensors("pr")
    hits, alarms, _, misses, precision, recall = tensor_util.make_ndarray(event.tensor_proto).astype(float)
    (media,) = run.media("pr")
    (curve,) = json.loads(run.media_bytes(media))["curves"]
    real = (hits + alarms) > 0
    assert curve["x"][1:] == recall[real][::-1].tolist()
    assert curve["y"][1:] == precision[real][::-1].tolist()
    assert curve["thresholds"][1:] == (np.arange(127) / 126)[real][::-1].tolist()
    assert (curve["positives"], curve["negatives"]) == (int(LABELS.sum()), int(200 - LABELS.sum()))
    assert misses[0] == 0


def test_sounds_graphs_meshes_and_the_unknown_are_kept(logs: Path, imported: dict[str, RunFolder]) -> None:
    torch_run, tf_run = imported["torch"], imported["tf"]
    (event,) = theirs(logs / "torch").Audio("sound")
    (sound,) = torch_run.media("sound")
    assert torch_run.media_bytes(sound) == event.encoded_audio_string
    assert sound.meta["rate"] == 8000
    (file,) = torch_run.media("graph/file")
    assert theirs(logs / "torch").Graph().SerializeToString(deterministic=True)
    graph = type(theirs(logs / "torch").Graph())()
    graph.ParseFromString(torch_run.media_bytes(file))
    (table,) = torch_run.media("graph/nodes")
    names = [row[0] for row in json.loads(torch_run.media_bytes(table))["rows"]]
    assert names == [node.name for node in graph.node]
    (drawn,) = torch_run.media("graph")
    step = read_logged(torch_run.media_bytes(drawn), "graph")
    assert sorted(op.name for op in step.ops) == sorted(
        node.op.removeprefix("aten::") for node in graph.node if node.op.startswith("aten::")
    )
    made = {ref.id for op in step.ops for ref in op.outputs}
    assert step.model == "Net"
    assert all(any(ref.id in made for ref in op.inputs) for op in step.ops[1:])  # each reads another's output
    (traced,) = tf_run.media("traced")
    assert [op.name for op in read_logged(tf_run.media_bytes(traced), "traced").ops] == ["Mul", "AddV2", "Identity"]
    (mesh,) = torch_run.media("mesh")
    data = torch_run.media_bytes(mesh)
    assert data.startswith(b"ply\n")
    assert b"element vertex 4" in data
    assert b"element face 2" in data
    (vectors,) = torch_run.media("vectors")
    assert (vectors.kind, vectors.meta["rows"], vectors.meta["width"]) == ("embedding", 5, 144)
    assert [one.index for one in tf_run.media("images")] == [0, 1, 2]
    assert tf_run.media("sound")[0].kind == "audio"
    assert json.loads(tf_run.media_bytes(tf_run.media("table")[0]))["rows"] == [["a", "b"], ["c", "d"]]
    import io

    assert np.load(io.BytesIO(tf_run.media_bytes(tf_run.media("unknown")[0]))).tolist() == [0, 1, 2, 3, 4]


def test_a_growing_folder_is_followed(tmp_path: Path) -> None:
    landing = Landing(TensorBoardSource(tmp_path / "logs"), tmp_path / "store")
    writer = SummaryWriter(str(tmp_path / "logs" / "a"), max_queue=1000, flush_secs=1000)
    total = 0
    for turn in range(4):
        for step in range(turn * 50, turn * 50 + 50):
            writer.add_scalar("loss", step**0.5, step)
        if turn == 2:
            other = SummaryWriter(str(tmp_path / "logs" / "b"))
            other.add_scalar("loss", 1.0, 1)
            other.close()
        writer.flush()
        total += landing.look(follow=True).points
        run = next(run for run in runs(tmp_path / "store") if run.name == "a")
        assert run.series("loss").steps.tolist() == list(range(turn * 50 + 50))
        assert run.status == "running"
    assert total == 201
    writer.close()
    landing.close()
    found = {run.name: run for run in runs(tmp_path / "store")}
    assert {run.status for run in found.values()} == {"finished"}
    assert same_scalars(found["a"], tmp_path / "logs" / "a") == 1


def test_a_restart_hides_what_it_does_again(tmp_path: Path) -> None:
    for start, purge in ((0, None), (60, 60)):
        writer = SummaryWriter(str(tmp_path / "logs"), purge_step=purge, filename_suffix=f".{start}")
        for step in range(start, start + 100):
            writer.add_scalar("loss", step + start / 1000, step)
        writer.close()
    Landing(TensorBoardSource(tmp_path / "logs"), tmp_path / "store").look()
    (run,) = runs(tmp_path / "store")
    assert same_scalars(run, tmp_path / "logs") == 1
    assert len(run.series("loss", superseded=True).values) == 200


def export(run: RunFolder, folder: Path, **options: Any) -> EventAccumulator:
    (done,) = write_tensorboard([run], folder, **options)
    return theirs(done.path)


def test_exported_runs_are_read_by_tensorboard_with_every_value(
    imported: dict[str, RunFolder], logs: Path, tmp_path: Path
) -> None:
    run = imported["torch"]
    found = export(run, tmp_path / "tb")
    assert sorted(found.Tags()["scalars"]) == sorted(run.metrics())
    for name in run.metrics():
        series, events = run.series(name), found.Scalars(name)
        assert [e.step for e in events] == series.steps.tolist()
        assert [e.wall_time for e in events] == series.times.tolist()
        np.testing.assert_array_equal([e.value for e in events], series.values.astype(np.float32))
    original = theirs(logs / "torch")
    assert found.Images("image")[0].encoded_image_string == original.Images("image")[0].encoded_image_string
    assert found.Audio("sound")[0].encoded_audio_string == original.Audio("sound")[0].encoded_audio_string
    assert found.Histograms("weights")[0].histogram_value.num == 500
    text = tensor_util.make_ndarray(found.Tensors("note")[0].tensor_proto)
    assert text.tolist() == [b"# title\n\nwords"]
    curve = tensor_util.make_ndarray(found.Tensors("pr")[0].tensor_proto)
    np.testing.assert_allclose(curve, tensor_util.make_ndarray(original.Tensors("pr")[0].tensor_proto), atol=1e-3)


def test_exported_hyperparameters_are_what_the_hparams_page_reads(
    imported: dict[str, RunFolder], tmp_path: Path
) -> None:
    from tensorboard.plugins.hparams import plugin_data_pb2

    content = export(imported["tf"], tmp_path / "tb").PluginTagToContent("hparams")
    start = plugin_data_pb2.HParamsPluginData.FromString(content["_hparams_/session_start_info"]).session_start_info
    assert start.hparams["lr"].number_value == 0.5
    assert start.hparams["act"].string_value == "relu"
    assert start.hparams["wide"].bool_value is True
    experiment = plugin_data_pb2.HParamsPluginData.FromString(content["_hparams_/experiment"]).experiment
    assert {info.name for info in experiment.hparam_infos} == {"lr", "act", "wide"}


def test_exported_doubles_keep_every_digit(imported: dict[str, RunFolder], tmp_path: Path) -> None:
    run = imported["torch"]
    found = export(run, tmp_path / "tb", double=True)
    (event,) = found.Tensors("new double")
    assert float(tensor_util.make_ndarray(event.tensor_proto)) == 0.1
    assert len(found.Tensors("loss/train")) == 300


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    return [(one.name, one.kind, one.default) for one in inspect.signature(function).parameters.values()]


def test_our_writer_has_every_method_with_its_signature() -> None:
    from stepscope.tensorboard import SummaryWriter as Ours

    their = dict(inspect.getmembers(SummaryWriter, inspect.isfunction))
    public = [name for name in their if not name.startswith("_") or name in ("__init__", "__enter__", "__exit__")]
    assert len(public) > 25
    for name in public:
        ours, wanted = parameters(getattr(Ours, name)), parameters(their[name])
        assert ours[: len(wanted)] == wanted, name
        assert EXTRA.get(name, []) == [extra for extra, _, _ in ours[len(wanted) :]], name
        assert all(default is not inspect.Parameter.empty for _, _, default in ours[len(wanted) :]), name


EXTRA = {"__init__": ["write_to_disk", "logdir"], "add_hparams": ["name"]}
"""What only tensorboardX has."""


@pytest.fixture
def ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """The run that our writer makes of the same calls."""
    from stepscope.tensorboard import SummaryWriter as Ours

    monkeypatch.setenv("STEPSCOPE_DIR", str(tmp_path / "ours"))
    monkeypatch.chdir(tmp_path)
    writer = Ours("runs/exp1")
    path = writer.run.path
    fill(writer)
    return open_run(path)


def test_our_writer_keeps_what_theirs_keeps(ours: RunFolder, imported: dict[str, RunFolder]) -> None:
    their = imported["torch"]
    assert ours.name == "exp1"
    assert set(their.metrics()) <= set(ours.metrics())
    for name in their.metrics():
        one, other = ours.series(name), their.series(name)
        assert one.steps.tolist() == other.steps.tolist(), name
        np.testing.assert_array_equal(one.values.astype(np.float32), other.values.astype(np.float32))
    assert ours.series("acc").times.tolist() == their.series("acc").times.tolist()
    assert dict(ours.config) == dict(their.config)
    for key in ("weights", "same"):
        (one,), (other,) = ours.media(key), their.media(key)
        assert ours.media_bytes(one) == their.media_bytes(other)
        assert one.meta["total"] == other.meta["total"]
    for key in ("sound", "pr", "mesh"):
        (one,), (other,) = ours.media(key), their.media(key)
        assert (one.kind, one.step) == (other.kind, other.step)
    assert ours.media_bytes(ours.media("sound")[0]) == their.media_bytes(their.media("sound")[0])
    (curve,), (other_curve,) = (json.loads(run.media_bytes(run.media("pr")[0]))["curves"] for run in (ours, their))
    np.testing.assert_allclose(curve["y"], other_curve["y"], rtol=1e-6)
    np.testing.assert_allclose(curve["x"], other_curve["x"], rtol=1e-6)
    (graph,) = ours.media("graph")
    assert graph.kind == "step"


def pixels(run: RunFolder, key: str) -> Any:
    import io

    from PIL import Image

    (media,) = run.media(key)
    return np.asarray(Image.open(io.BytesIO(run.media_bytes(media))).convert("RGB"))


def test_our_pictures_have_the_same_pixels(ours: RunFolder, imported: dict[str, RunFolder]) -> None:
    for key in ("image", "images"):
        np.testing.assert_array_equal(pixels(ours, key), pixels(imported["torch"], key))


def test_the_command_imports_and_says_what_came(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = f"base:{logs / 'torch'},wide:{logs / 'tf'}"
    main(["import", named, "--into", str(tmp_path / "store"), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert [source["new_runs"] for source in found["sources"]] == [1, 1]
    assert sorted(run.name for run in runs(tmp_path / "store")) == ["base", "wide"]
