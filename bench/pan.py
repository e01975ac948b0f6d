"""How smoothly a large timeline and a large call tree move in the browser, and what the server needs for a tile.

.venv/bin/python bench/pan.py [--mb 500]

The trace is made of a recorded one (tests/samples/traces/h200.json.gz: Python stacks, operators, kernels), repeated one
after the other until it would be a JSON file of that size; the call tree has 100,000 nodes, made by chance. Frames are
wall time, so a busy machine makes them longer; the longest task is CPU time of the page's thread.

Needs Node, web/node_modules and Chromium, and a built page (`make web`).
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from stepscope.profile.profile import Profile
from stepscope.profile.timeline.timeline import Timeline
from stepscope.profile.trace.columns import save_events
from stepscope.profile.trace.events import Events, Sparse
from stepscope.profile.trace.read import read_trace
from stepscope.records import End, RunMeta
from stepscope.records.profile import ProfileFile, ProfileMeta, Stack
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter
from stepscope.server.serve import running
from stepscope.server.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "tests/samples/traces/h200.json.gz"
_LINKS = ("correlation", "External id", "id", "Sequence number", "Ev Idx")


def repeated(events: Events, times: int) -> Events:
    """The same events again and again, each time later, with links of their own."""
    length = int(events.end.max() - events.start.min()) + 1_000
    turn = np.repeat(np.arange(times), len(events))
    args = {}
    for key, column in events.args.items():
        turns = np.repeat(np.arange(times), len(column.rows))
        values = np.tile(column.values, times)
        rows = (np.tile(column.rows.astype(np.int64), times) + turns * len(events)).astype(np.uint32)
        args[key] = Sparse(rows, values + turns * 10_000_000 if key in _LINKS else values, column.kind)
    columns = {name: np.tile(getattr(events, name), times) for name in ("start", "dur", "ph", "cat", "name", "lane")}
    columns["start"] = columns["start"] + turn * length
    return replace(events, args=args, **columns)


def call_tree(nodes: int) -> Stack:
    """A tree whose nodes hang under any of the first 20,000, about as deep and as wide as real ones."""
    chance = random.Random(1)
    names = [f"function_{at} (torch/module{at % 40}.py:{at})" for at in range(1_000)]
    parent = [-1, *(chance.randrange(min(at, 20_000)) for at in range(1, nodes))]
    own = [chance.expovariate(1e-4) for _ in parent]
    total = own[:]
    for node in range(nodes - 1, 0, -1):
        total[parent[node]] += total[node]
    return Stack(
        id="stacks",
        title="Sampled calls",
        names=names,
        files=[f"torch/module{at % 40}.py" for at in range(1_000)],
        lines=list(range(1_000)),
        parent=parent,
        name=[chance.randrange(1_000) for _ in parent],
        total=total,
        own=own,
        calls=[1] * nodes,
    )


def make_run(store: Path, events: Events | None = None, calls: Stack | None = None) -> tuple[str, Path]:
    """A run with a profile that has these events and calls."""
    meta = RunMeta(id=new_run_id(), project="bench", name="pan", created=time.time())
    writer = RunWriter(create_run(store, meta), run_id=meta.id, heartbeat_s=0, fsync_s=0)
    writer.close(End(time=time.time(), status="finished"))
    folder = store / meta.id / "profiles" / "p0001"
    folder.mkdir(parents=True)
    files = []
    if events is not None:
        save_events(events, folder / "rank0.events")
        files.append(ProfileFile(name="rank0.events", kind="events"))
    if calls is not None:
        (folder / "rank0.stacks").write_bytes(msgspec.msgpack.encode(calls))
        files.append(ProfileFile(name="rank0.stacks", kind="stacks"))
    about = ProfileMeta(id="p0001", kind="opened", created=time.time(), files=files)
    (folder / "profile.json").write_bytes(msgspec.json.encode(about))
    return meta.id, folder


def server_times(folder: Path) -> dict[str, float]:
    """CPU milliseconds in this process: opening, one tile of every lane at every level, an event, a selection."""
    clock = time.process_time
    began = clock()
    trace = Profile.load(folder).trace(0)
    assert trace is not None
    loaded = clock()
    timeline = Timeline(trace)
    made = clock()
    lanes, worst = [lane.id for lane in timeline.lanes], 0.0
    for level in range(timeline.lines.bits - 9):
        for share in (0.0, 0.37, 0.8):
            first = int(timeline.lines.span_ns * share) // (1024 << level)
            at = clock()
            timeline.tiles(level=level, first=first, count=1, lanes=lanes)
            worst = max(worst, clock() - at)
    at = clock()
    timeline.select(0, timeline.lines.span_ns)
    selected = clock()
    event = int(timeline.lines.row[len(timeline.lines) // 2])
    timeline.pick(event)  # the first one works out how events belong together
    first_pick = clock()
    timeline.pick(event)
    times = {
        "events": len(trace),
        "load": loaded - began,
        "make": made - loaded,
        "worst tile": worst,
        "select all": selected - at,
        "first event": first_pick - selected,
        "event": clock() - first_pick,
    }
    return {name: value if name == "events" else round(value * 1000, 1) for name, value in times.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=500)
    parser.add_argument(
        "--static", type=Path, default=None, help="a folder with the built page, instead of the installed"
    )
    asked = parser.parse_args()
    sample = read_trace(SAMPLE, cache=False)
    times = max(1, round(asked.mb * 1e6 / sample.header.json_bytes))
    with tempfile.TemporaryDirectory(prefix="stepscope-pan-") as folder:
        store = Path(folder) / "runs"
        store.mkdir()
        run, profile = make_run(store, repeated(sample, times))
        calls, _ = make_run(store, calls=call_tree(100_000))
        print(f"a trace of {asked.mb} MB: {times} times {SAMPLE.name}")
        print("server, CPU ms:", json.dumps(server_times(profile)))
        settings = Settings(static=asked.static) if asked.static else Settings()
        with running([store], settings) as server:
            for id, tab in ((run, "timeline"), (calls, "python")):
                command = ["node", str(ROOT / "bench/pan.mjs"), server.address, f"#/profile?of={id}&tab={tab}", tab]
                done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
                if done.returncode != 0:
                    print(done.stderr, file=sys.stderr)
                    return 1
                report(tab, json.loads(done.stdout))
    return 0


def report(tab: str, found: dict[str, Any]) -> None:
    print(f"{tab}: opened in {found['open_ms']} ms")
    print("| | frames | p50 ms | p95 | p99 | longest | over 100 ms | longest task, CPU ms |")
    print("|---|---|---|---|---|---|---|---|")
    for one in found["results"]:
        numbers = " | ".join(f"{one[key]:.0f}" for key in ("p50", "p95", "p99", "max", "over100", "task_ms"))
        print(f"| {one['name']} | {one['frames']} | {numbers} |")
    tiles = found["tiles"]
    if not tiles:
        return
    took = sorted(tile["ms"] for tile in tiles)
    size = sum(tile["bytes"] for tile in tiles) / 1e6
    print(
        f"{len(took)} answers with tiles, {size:.1f} MB; median {took[len(took) // 2]:.0f} ms, longest {took[-1]:.0f}"
    )


if __name__ == "__main__":
    sys.exit(main())
