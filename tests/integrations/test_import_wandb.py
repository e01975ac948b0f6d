"""What the real wandb wrote offline comes in with every value equal to what its own messages say."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.integrations.imported import bring, python

from stepscope.importers.import_writer import Landed
from stepscope.records import End
from stepscope.runs.format.blobs import blob_path
from stepscope.runs.read.folder import RunFolder

SCRIPT = """
import sys, numpy as np, wandb
out = sys.argv[1]
run = wandb.init(
    dir=out, project="digits", name="première", group="cross", job_type="train", tags=["a", "b"], notes="hello",
    config={"lr": 0.1, "model": {"depth": 3, "name": "x"}, "layers": [1, 2], "api_key": "abcdefgh12345678"},
    settings=wandb.Settings(x_stats_sampling_interval=0.3, x_disable_meta=False),
)
run.define_metric("epoch")
run.define_metric("val/*", step_metric="epoch", summary="min")
run.define_metric("score", summary="max")
rng = np.random.default_rng(0)
print("the console is kept")
print("progress 1%\\rprogress 99%", file=sys.stderr)
for i in range(40):
    run.log({
        "loss": float(rng.normal()), "tiny": 1e-310 * i, "nested": {"a": i, "b": {"c": i * 2}}, "epoch": i // 5,
        "val/acc": i * 0.1, "score": -abs(i - 20), "nan": float("nan"), "inf": float("-inf"), "big": 2**60 + i,
        "flag": bool(i % 2), "word": f"wörd {i}", "nothing": None, "np": np.float32(0.1) * i,
    })
    if i % 10 == 0:
        picture = rng.integers(0, 255, (8, 9, 3), dtype=np.uint8)
        run.log({
            "image": wandb.Image(picture, caption=f"at {i}"), "images": [wandb.Image(picture) for _ in range(3)],
            "histogram": wandb.Histogram(rng.normal(size=100)), "array": rng.normal(size=200),
            "table": wandb.Table(columns=["a", "b"], data=[[1, "x"], [2.5, None]]),
            "page": wandb.Html("<b>hi</b>"),
            "line": wandb.plot.line_series([1, 2], [[1, 2]], ["k"]), "deep": {"image": wandb.Image(picture)},
        }, commit=False)
run.log({"late": 1.0}, step=1000)
run.config.update({"added": 5, "model": {"depth": 4}}, allow_val_change=True)
run.summary["best"] = 0.9
run.summary["by"] = {"hand": "yes"}
run.alert("careful", "it grows", level="WARN")
weights = out + "/weights.txt"
open(weights, "w").write("1 2 3")
artifact = wandb.Artifact("model", "model", metadata={"epochs": 8})
artifact.add_file(weights)
run.log_artifact(artifact, aliases=["best"])
run.save(weights, base_path=out)
import time; time.sleep(0.8)
run.finish(exit_code=int(sys.argv[2]))
"""


@dataclass
class Written:
    log: Path
    run: RunFolder
    landed: Landed
    records: list[Any]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("wandb")
    python(SCRIPT, str(folder), "3", cwd=folder)
    (log,) = folder.glob("wandb/offline-run-*/run-*.wandb")
    (run,), landed = bring("wandb", folder, folder / "store")
    return Written(log, run, landed, [_parsed(data) for data in _framed(log.read_bytes())])


def _framed(data: bytes) -> Iterator[bytes]:
    """LevelDB's log format read in the plainest way."""
    at, whole = 7, b""
    while at < len(data):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        crc, length, kind = struct.unpack_from("<IHB", data, at)
        part = data[at + 7 : at + 7 + length]
        assert zlib.crc32(bytes([kind]) + part) == crc
        at, whole = at + 7 + length, whole + part
        if kind in (1, 4):
            yield whole
            whole = b""


def _parsed(data: bytes) -> Any:
    from wandb.proto import wandb_internal_pb2

    record = wandb_internal_pb2.Record()
    record.ParseFromString(data)
    return record


def _value(item: Any) -> Any:
    kind = item.WhichOneof("value") if item.DESCRIPTOR.oneofs else None
    if kind in (None, "value_json"):
        return json.loads(item.value_json)
    return getattr(item, kind)


def _truth(records: list[Any]) -> dict[str, list[tuple[int, float, Any]]]:
    """(step, time, value) of every plain number in the history, by name."""
    found: dict[str, list[tuple[int, float, Any]]] = {}
    for record in records:
        if record.WhichOneof("record_type") != "history":
            continue
        row = {tuple(item.nested_key) or (item.key,): _value(item) for item in record.history.item}
        typed = {path[:-1] for path in row if path[-1] == "_type"}
        for path, value in row.items():
            inside = any(path[: len(head)] == head for head in typed)
            if isinstance(value, (int, float)) and not inside and not path[0].startswith("_"):
                place = (row[("_step",)], row[("_timestamp",)], value)
                found.setdefault(".".join(path), []).append(place)
    return found


def test_every_number_step_and_time_is_equal(written: Written) -> None:
    truth = _truth(written.records)
    (trouble,) = written.landed.troubles  # `wandb.save` leaves a link, and links out of the folder are not followed
    assert "the saved file 'weights.txt' cannot be read" in trouble
    ours = [name for name in written.run.metrics() if not name.startswith("system/")]
    assert sorted(ours) == sorted(truth)
    for name, points in truth.items():
        series = written.run.series(name)
        assert series.steps.tolist() == [step for step, _, _ in points], name
        np.testing.assert_allclose(series.times, [time for _, time, _ in points], rtol=0, atol=1e-4)
        if name != "big":
            np.testing.assert_array_equal(series.values, np.array([float(value) for _, _, value in points]))


def test_integers_beyond_a_float_stay_exact(written: Written) -> None:
    assert list(written.run.series("big").exact.values()) == [2**60 + i for i in range(40)]


def test_what_the_run_is(written: Written) -> None:
    run = written.run
    assert (run.name, run.project, run.group, run.notes, run.tags) == (
        "première",
        "digits",
        "cross",
        "hello",
        ["a", "b"],
    )
    assert run.config["model/depth"] == 4
    assert run.config["added"] == 5
    assert run.config["layers"] == [1, 2]
    assert run.config["job_type"] == "train"
    assert "abcdefgh12345678" not in str(run.config)
    assert run.status == "failed"
    assert run.events(End)[-1].exit_code == 3
    assert run.summary["best"] == 0.9
    assert run.summary["by.hand"] == "yes"
    assert run.meta.packages["wandb"]
    assert run.meta.python.startswith("3.")
    assert run.meta.command[-1] == "3"
    rules = {rule.name: (rule.summary, rule.x, rule.goal) for rule in run.rules}
    assert rules["val/*"] == ("min", "epoch", None)
    assert run.summary["score"] == 0.0
    assert [(alert.title, alert.text, alert.level) for alert in run.alerts] == [("careful", "it grows", "warning")]


def test_console_meters_and_artifacts(written: Written) -> None:
    printed = "".join(piece.text for piece in written.run.console())
    assert "the console is kept\n" in printed
    assert "progress 99%\n" in printed
    assert "1%" not in printed
    stats = [r for r in written.records if r.WhichOneof("record_type") == "stats"]
    truth = [json.loads(item.value_json) for r in stats for item in r.stats.item if item.key == "proc.memory.rssMB"]
    rss = written.run.series("system/process_rss_bytes").values
    np.testing.assert_array_equal(rss, np.array(truth) * 2**20)
    (artifact,) = written.run.artifacts
    assert (artifact.name, artifact.type, artifact.version, artifact.metadata) == ("model", "model", 0, {"epochs": 8})
    (file,) = artifact.files
    assert (file.path, file.size, file.reference) == ("weights.txt", 5, None)
    assert sorted(artifact.aliases) == ["best", "latest"]
    assert blob_path(written.run.path, file.sha256).read_text() == "1 2 3"


def test_media_are_the_files_that_wandb_wrote(written: Written) -> None:
    run, files = written.run, written.log.parent / "files"
    kinds = run.media_keys()
    assert {kinds[name] for name in ("image", "images", "deep.image")} == {"image"}
    assert (kinds["histogram"], kinds["table"], kinds["page"]) == ("histogram", "table", "html")
    assert (kinds["word"], kinds["array"]) == ("text", "histogram")
    assert "files/weights.txt" not in kinds
    pictures = run.media("image")
    assert [item.meta["caption"] for item in pictures] == [f"at {i}" for i in range(0, 40, 10)]
    there = {path.read_bytes() for path in files.glob("media/images/image_*.png")}
    assert {run.media_bytes(item) for item in pictures} == there
    assert [item.count for item in run.media("images")][:3] == [3, 3, 3]


def test_a_histogram_has_the_counts_and_edges_of_wandb(written: Written) -> None:
    rows = [r.history for r in written.records if r.WhichOneof("record_type") == "history"]
    items = {tuple(item.nested_key): _value(item) for row in rows for item in row.item if len(item.nested_key) > 1}
    last = written.run.media("histogram")[-1]
    numbers = np.frombuffer(written.run.media_bytes(last), "<f8")
    edges, counts = items["histogram", "bins"], items["histogram", "values"]
    np.testing.assert_array_equal(numbers, np.array(edges + counts))
