"""Runs inside a peer's venv: one measuring task, one RESULT line. Called by bench/tracking.py."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import math
import os
import socket
import sys
import time
import urllib.request
from pathlib import Path

sys.path = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).parent.resolve()]
sys.path.insert(0, str(Path(__file__).parent.parent))


def values_at(step: int, count: int) -> dict[str, float]:
    """A loss-like curve per name: what real runs log, neither constant nor random bits only."""
    return {f"metric_{i}": math.exp(-step / 5000) + 0.01 * math.sin(step * 0.7 + i) for i in range(count)}


def caller(tracker, folder: Path, width: int, calls: int = 2000) -> float:
    """CPU microseconds on the caller's thread per scalar."""
    run = tracker.start(folder)
    rows = [values_at(step, width) for step in range(calls)]
    for step in range(100):
        tracker.log(run, step, rows[step])
    best = math.inf
    for block in range(100, calls, 100):
        started = time.thread_time()
        for step in range(block, block + 100):
            tracker.log(run, step, rows[step])
        best = min(best, (time.thread_time() - started) / 100)
    tracker.finish(run)
    return best / width * 1e6


def empty(tracker, folder: Path) -> float:
    """Milliseconds to start and finish a run in a process that has done it once already (imports not counted)."""
    times = []
    for attempt in range(4):
        here = folder / str(attempt)
        here.mkdir()
        started = time.perf_counter()
        tracker.finish(tracker.start(here))
        times.append(time.perf_counter() - started)
    return min(times[1:]) * 1000


def wide(tracker, folder: Path, points: int) -> dict[str, float]:
    """Log many points in rows of ten, as fast as the tool lets us, to the end of `finish`."""
    rows = [values_at(step, 10) for step in range(points // 10)]
    started = time.perf_counter()
    run = tracker.start(folder)
    logging = time.perf_counter()
    for step, row in enumerate(rows):
        tracker.log(run, step, row)
    logged = time.perf_counter()
    tracker.finish(run)
    ended = time.perf_counter()
    return {"durable_per_s": points / (ended - started), "caller_wall_us": (logged - logging) / points * 1e6}


def single(tracker, folder: Path, points: int) -> dict[str, float]:
    """One series, one point a call."""
    rows = [{"loss": values_at(step, 1)["metric_0"]} for step in range(points)]
    run = tracker.start(folder)
    for step, row in enumerate(rows):
        tracker.log(run, step, row)
    tracker.finish(run)
    return {}


def read(tracker, folder: Path, points: int) -> dict[str, float]:
    """Read that series back in a fresh process, imports not counted."""
    tracker.warm()
    started = time.perf_counter()
    _steps, values = tracker.read(folder, "loss")
    taken = time.perf_counter() - started
    if len(values) != points:
        raise RuntimeError(f"{len(values)} of {points} points came back")
    return {"read_s": taken * 1_000_000 / points}


def client(url: str, headers: dict[str, str], body: object, parse: bool = True):
    data = json.dumps(body).encode() if body is not None else None
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=120) as answer:
        content = answer.read()
    return json.loads(content) if parse else content


def chart(tracker, folder: Path) -> float:
    """Milliseconds for the data of one chart, warm: the best of five after two."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = tracker.serve(folder, port)
    try:
        deadline = time.time() + 120
        while True:
            try:
                ask = tracker.chart(client, port, "loss")
                if ask():
                    break
            except (OSError, KeyError, IndexError, ValueError):
                if time.time() > deadline or server.poll() is not None:
                    raise
            time.sleep(0.5)
        times = []
        for _ in range(7):
            started = time.perf_counter()
            ask()
            times.append(time.perf_counter() - started)
        return min(times[2:]) * 1000
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    peer, task, folder, points = sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
    os.environ["TRACKIO_DIR"] = str(folder)  # trackio reads it when it is imported
    tracker = importlib.import_module(f"trackers.{peer}")
    if task == "version":
        result = {"version": importlib.metadata.version(peer)}
    elif task == "caller":
        result = {"caller_us": caller(tracker, folder, 10)}
    elif task == "caller_one":
        result = {"caller_us_one": caller(tracker, folder, 1)}
    elif task == "empty":
        result = {"empty_ms": empty(tracker, folder)}
    elif task == "bare":
        tracker.finish(tracker.start(folder))
        result = {}
    elif task == "chart":
        result = {"chart_ms": chart(tracker, folder)} if hasattr(tracker, "serve") else {}
    else:
        result = {"wide": wide, "single": single, "read": read}[task](tracker, folder, points)
    print("RESULT " + json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
