"""Runs with profiles for the browser tests: a real trace of a GPU, two ranks, one that waits for data, broken ones."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from stepscope.profile.store import new_folder, write_meta
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.columns import save_events
from stepscope.records import End, RunMeta
from stepscope.records.profile import ProfileMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter

TRACES = Path(__file__).parent.parent.parent / "tests" / "samples" / "traces"
SCRIPT = "<img src=x onerror=\"document.title='PWNED'\">"
MS = 1_000_000
MANY = 12_000


def profile(store: Path) -> None:
    """Each run's age decides the order: the last one written is the newest."""
    damaged = _run(store, "damaged", 90)
    (copied(damaged, "p1", "h200.json.gz") / "rank0.trace.json.gz").write_bytes(b"no trace" * 99)
    (_waiting(damaged, "p2", 5) / "profile.json").write_text('{"id": "p2", "kin')
    _hostile(_run(store, SCRIPT, 80))
    _many(_run(store, "many operators", 70))
    copied(_run(store, "two ranks", 60), "p1", "two_ranks_rank0.json.gz", "two_ranks_rank1.json.gz")
    _run(store, "not profiled", 50)
    before = _run(store, "before", 40)
    _waiting(before, "p1", 2)
    _waiting(before, "p2", 5)
    _waiting(_run(store, "waits for data", 30), "p1", 8)
    copied(
        _run(store, "gpt on a GPU", 20),
        "p1",
        "h200.json.gz",
        first_step=4,
        last_step=5,
        why="the steps 4 to 5 were asked for",
    )


def _run(store: Path, name: str, age_s: float) -> Path:
    created = time.time() - age_s
    meta = RunMeta(id=new_run_id(created), project="speed", name=name, created=created)
    folder = create_run(store, meta)
    writer = RunWriter(folder, run_id=meta.id, heartbeat_s=0, fsync_s=0)
    writer.keyset(("loss",)).write(0, (1.0,))
    writer.close(End(time=created + 5, status="finished", exit_code=0))
    return folder


def _described(folder: Path, id: str, **more: Any) -> Path:
    write_meta(folder, ProfileMeta(**{"id": id, "kind": "pytorch", "created": time.time() - 10, **more}))
    return folder


def copied(run: Path, id: str, *traces: str, **more: Any) -> Path:
    folder = new_folder(run, id, 0)
    for rank, trace in enumerate(traces):
        shutil.copy(TRACES / trace, folder / f"rank{rank}.trace.json.gz")
    return _described(folder, id, world=len(traces), **more)


def _waiting(run: Path, id: str, data_ms: int) -> Path:
    """Sixty steps of data, forward and backward; the first is ten times as long, the others differ a little."""
    builder, at = Builder(), 0
    for step in range(60):
        slow = 10 if step == 0 else 1
        jitter = (step * 7919 % 13) * 10_000
        lengths = {"data": data_ms * MS * slow + jitter, "forward": 3 * MS * slow, "backward": 4 * MS * slow}
        whole = sum(lengths.values())
        builder.add(f"ProfilerStep#{step}", "user_annotation", start=at, dur=whole, pid=1, tid=1)
        for phase, length in lengths.items():
            builder.add(phase, "phase", start=at, dur=length, pid=1, tid=1, args={"step": step})
            if phase != "data":
                builder.add("aten::mm", "cpu_op", start=at, dur=length // 2, pid=1, tid=1)
                builder.add("aten::add", "cpu_op", start=at + length // 2, dur=length // 4, pid=1, tid=1)
            at += length
    folder = new_folder(run, id, 0)
    save_events(builder.events(), folder / "rank0.events")
    return _described(folder, id, first_step=0, last_step=59)


def _hostile(run: Path) -> None:
    builder = Builder()
    builder.add("ProfilerStep#0", "user_annotation", start=0, dur=MS, pid=1, tid=1)
    for at, name in enumerate(
        [SCRIPT, "\u202egnp.exe", "x" * 3000, "=HYPERLINK(1)", "line\nbreak\x1b[31m", "</script>"]
    ):
        builder.add(name, "cpu_op", start=at * 1000, dur=500, pid=SCRIPT, tid=SCRIPT, args={"Call stack": SCRIPT})
    folder = new_folder(run, "p1", 0)
    save_events(builder.events(), folder / "rank0.events")
    _described(folder, "p1", why=SCRIPT, host=SCRIPT, overhead=SCRIPT, notes=[f"`{SCRIPT}", SCRIPT])


def _many(run: Path) -> None:
    builder = Builder()
    builder.add("ProfilerStep#0", "user_annotation", start=0, dur=MANY * 1000, pid=1, tid=1)
    for at in range(MANY):
        builder.add(f"my::operator_{at}", "cpu_op", start=at * 1000, dur=100 + at * 7919 % 800, pid=1, tid=1)
    folder = new_folder(run, "p1", 0)
    save_events(builder.events(), folder / "rank0.events")
    _described(folder, "p1")
