"""Runs for tests of the Timeline and Python tabs: a real trace, two ranks, thousands of lanes, a large call tree."""

from __future__ import annotations

import random
import time
from pathlib import Path

import msgspec

from stepscope.profile.store import new_folder, write_meta
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.columns import save_events
from stepscope.profile.trace.events import Events
from stepscope.profile.trace.read import read_trace
from stepscope.records import End, RunMeta
from stepscope.records.profile import ProfileFile, ProfileMeta, Stack
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter

TRACES = Path(__file__).parent.parent.parent / "tests" / "samples" / "traces"
SCRIPT = "<img src=x onerror=\"document.title='PWNED'\">"
LANES = 3_000
NODES = 100_000


def timeline(store: Path) -> None:
    _profile(store, "many lanes", 50, [_lanes()])
    _profile(store, "names", 40, [_hostile()])
    _profile(store, "calls", 30, [], _calls())
    ranks = [read_trace(TRACES / f"two_ranks_rank{rank}.json.gz", cache=False) for rank in (0, 1)]
    _profile(store, "two ranks", 20, ranks)
    _profile(store, "gpt", 10, [read_trace(TRACES / "h200.json.gz", cache=False)])


def _profile(store: Path, name: str, age_s: float, tables: list[Events], calls: Stack | None = None) -> None:
    created = time.time() - age_s
    meta = RunMeta(id=new_run_id(created), project="speed", name=name, created=created)
    run = create_run(store, meta)
    RunWriter(run, run_id=meta.id, heartbeat_s=0, fsync_s=0).close(End(time=time.time(), status="finished"))
    folder = new_folder(run, "p1", 0)
    files = []
    for rank, table in enumerate(tables):
        save_events(table, folder / f"rank{rank}.events")
        files.append(ProfileFile(name=f"rank{rank}.events", kind="events", rank=rank))
    if calls is not None:
        (folder / "rank0.stacks").write_bytes(msgspec.msgpack.encode(calls))
        files.append(ProfileFile(name="rank0.stacks", kind="stacks"))
    about = ProfileMeta(id="p1", kind="opened", created=time.time(), world=max(1, len(tables)), files=files)
    write_meta(folder, about)


def _lanes() -> Events:
    builder = Builder()
    for lane in range(LANES):
        for at in range(4):
            builder.add(f"work {at}", "cpu_op", start=lane * 100 + at * 1_000, dur=900, pid=lane // 50, tid=lane)
    return builder.events()


def _hostile() -> Events:
    builder = Builder()
    builder.lane_names["1"] = builder.lane_names["1/1"] = SCRIPT
    builder.add(SCRIPT, SCRIPT, start=0, dur=1_000_000, pid=1, tid=1, args={SCRIPT: SCRIPT, "Call stack": SCRIPT})
    builder.add("\u202egnp" + "x" * 3_000, "cpu_op", start=2_000_000, dur=500_000, pid=1, tid=1)
    builder.add("broken", "cpu_op", start=-(10**18), dur=5, pid="Spans", tid="")
    return builder.events()


def _calls() -> Stack:
    """A hundred thousand nodes: `main` calls `train` and `load`, and these whatever chance wants."""
    chance = random.Random(1)
    names = ["main (train.py:1)", "train (train.py:20)", "load (data.py:5)", SCRIPT]
    names += [f"function_{at} (torch/module{at % 40}.py:{at})" for at in range(1_000)]
    parent, name = [-1, 0, 0, 1], [0, 1, 2, 3]
    while len(parent) < NODES:
        parent.append(chance.randrange(1, min(len(parent), 20_000)))
        name.append(chance.randrange(4, len(names)))
    own = [chance.expovariate(1e-4) for _ in parent]
    total = own[:]
    for node in range(NODES - 1, 0, -1):
        total[parent[node]] += total[node]
    return Stack(
        id="stacks",
        title="Sampled calls",
        names=names,
        files=["/me/train.py", "/me/train.py", "/me/data.py", ""]
        + [f"torch/module{at % 40}.py" for at in range(1_000)],
        lines=[1, 20, 5, 0, *range(1_000)],
        parent=parent,
        name=name,
        total=total,
        own=own,
        calls=[1] * NODES,
    )
