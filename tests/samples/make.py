"""Write the sample runs of this version: `python tests/samples/make.py tests/samples/0.1`.

Each release adds a folder and none is ever changed: they are the proof that what was recorded years ago is still read.
Nothing of the machine they are made on is in them.
"""

from __future__ import annotations

import math
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import stepscope
from stepscope.records import Console, Environment, FaultNote, GitState, RunMeta
from stepscope.runs.compact.compact import compact
from stepscope.runs.format import writer_identity
from stepscope.runs.format.frames import encode
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run, log_files
from stepscope.runs.write.writer import RunWriter
from stepscope.track.run import Run
from stepscope.track.sink import RunSink


def new(store: Path, name: str) -> Path:
    meta = RunMeta(
        id=new_run_id(),
        project="samples",
        name=name,
        created=time.time(),
        config={"lr": 0.001, "opt/name": "adam", "big": 2**60 + 1, "flag": True, "none": None},
        tags=["sample", "é"],
        notes="Made to be read for ever.",
        host="sample-host",
        user="somebody",
        command=["train.py", "--lr", "0.001"],
        python="3.11.0",
        packages={"numpy": "2.0.0"},
    )
    return create_run(store, meta)


def opened(path: Path, attempt: int = 0, rank: int = 0, first_step: int = 0) -> tuple[Run, RunWriter]:
    """A run to log to, without anything around it that looks at this machine."""
    from stepscope.runs.format.meta import read_meta

    writer = RunWriter(path, run_id=path.name, attempt=attempt, rank=rank, heartbeat_s=0, fsync_s=0, mode="direct")
    run = Run(read_meta(path), path, writer, RunSink(writer), first_step=first_step, rank=rank, attempt=attempt)
    return run, writer


def plain(store: Path) -> None:
    """Scalars of all kinds, events, console, two ranks, and a frame of a kind that only the future knows."""
    path = new(store, "plain")
    for rank in range(2):
        run, writer = opened(path, rank=rank)
        for step in range(20):
            run.log({"loss": 1 / (step + 1) + rank, "acc": np.float32(step / 20), "nested": {"x": step}}, step=step)
        if rank == 0:
            run.log({"odd": math.nan}, step=20)
            run.log({"odd": math.inf}, step=21)
            run.log({"odd": -0.0}, step=22)
            run.log({"whole": 2**60 + 1}, step=-(2**63))
            run.define("loss", summary="min", goal="min")
            run.summary["best"] = 0.05
            run.tags.add("good")
            run.tags.discard("é")
            run.config.update({"lr": 0.01})
            run.notes = "Changed later."
            run.alert("Look", "at this", level="error")
            writer.console(Console(time=time.time(), stream="stdout", text="hello\n"))
            git = GitState(commit="0" * 40, branch="main", dirty=False)
            writer.event(Environment(time=time.time(), git=git, packages={"torch": "2.0"}, hardware={"cpus": 2}))
            writer.event(FaultNote(time=time.time(), where="somewhere", error="ValueError: x", traceback=""))
        run.finish()
    first = log_files(path)[0]
    seq = max(0, first.read_bytes().count(b"\xf5S"))
    with open(first, "ab") as stream:
        stream.write(encode(99, seq + 1000, b"from the future"))


def resumed(store: Path) -> None:
    path = new(store, "resumed")
    for attempt, (start, end) in enumerate(((0, 30), (20, 25))):
        run, _ = opened(path, attempt, first_step=start)
        for step in range(start, end):
            run.log({"loss": step + attempt * 1000}, step=step)
        run.finish()


def killed(store: Path) -> None:
    """No end, no seal, and half a frame where the kill came."""
    path = new(store, "killed")
    _run, writer = opened(path)
    row = writer.keyset(("loss", "acc"))
    for step in range(25):
        row.write(step, (step, -step))
    writer.flush()
    (file,) = log_files(path)
    os.truncate(file, file.stat().st_size - 9)


def compacted(store: Path) -> None:
    path = new(store, "compacted")
    chance = random.Random(1)
    run, _ = opened(path)
    for step in range(300):
        run.log({"loss": chance.random(), "lr": 0.1}, step=step)
    run.finish(exit_code=3)
    assert compact(path).files == 1


def media(store: Path) -> None:
    """One of every kind, small ones and one of each way to keep bytes."""
    path = new(store, "media")
    run, _ = opened(path)
    chance = np.random.default_rng(1)
    pixels = chance.random((8, 8, 3))
    score, truth = chance.random(30), chance.integers(0, 2, 30)
    log: Callable[[dict[str, Any]], None] = lambda values: run.log(values, step=1)  # noqa: E731
    log({"image": stepscope.Image(pixels, caption="eight by eight"), "noise": stepscope.Image(chance.random((64, 64)))})
    log(
        {
            "histogram": stepscope.Histogram(chance.standard_normal(100)),
            "text": "plain",
            "md": stepscope.Markdown("# x"),
        }
    )
    log(
        {
            "audio": stepscope.Audio(np.sin(np.arange(200) / 9), rate=8000),
            "video": stepscope.Video(chance.random((3, 8, 8, 3))),
        }
    )
    log(
        {"table": stepscope.Table([{"a": 1, "b": "x"}, {"a": math.nan, "b": None}]), "page": stepscope.Html("<b>x</b>")}
    )
    log({"roc": stepscope.ROCCurve(truth, score), "pr": stepscope.PRCurve(truth, score)})
    log({"confusion": stepscope.ConfusionMatrix(truth, (score > 0.5).astype(int))})
    log({"embedding": stepscope.Embedding(chance.random((5, 3)), labels=list("abcde"))})
    run.log_artifact({"weights.bin": b"w" * 100, "note.txt": b"hi"}, name="bundle", aliases=["best"])
    run.finish()


def main(folder: Path) -> None:
    writer_identity.host_name = lambda: "sample-host"  # type: ignore[assignment]
    writer_identity.boot_id = lambda: "5a3b"  # type: ignore[assignment]
    os.getpid = lambda: 4242  # in names and headers
    folder.mkdir(parents=True)
    for make in (plain, resumed, killed, compacted, media):
        make(folder)
        time.sleep(0.002)  # ids in this order


if __name__ == "__main__":
    main(Path(sys.argv[1]))
