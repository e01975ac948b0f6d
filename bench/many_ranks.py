"""A run of very many simulated ranks, written by our own writer: how long does it take to open?

    python bench/many_ranks.py                       # 4,096 ranks on 512 machines, each with a leader
    python bench/many_ranks.py --ranks 512 --keep runs
    python bench/many_ranks.py --no-leaders          # every rank writes to the run itself

Measures the CPU time of `stepscope show`, the wall time of everything the run's page and its Ranks part ask a
server for, that server's memory, and how many files the run has. Rank 1234 loads its data slowly.
"""

from __future__ import annotations

import argparse
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from stepscope.records import End, RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.node.leader import NodeLeader
from stepscope.runs.write.writer import RunWriter

NAMES = (
    "train/loss", "speed/steps_per_s", "time/data_ms", "time/forward_ms", "time/backward_ms", "time/optimizer_ms",
    "memory/gpu_bytes",
)  # fmt: skip
SLOW = 1234
LOOK_EVERY = 30
"""Points between two looks of a leader: ranks log their times once a second."""


def write_run(store: Path, ranks: int, points: int, per_host: int, leaders: bool) -> str:
    """The run's id."""
    created = time.time() - 3600
    meta = RunMeta(id=new_run_id(created), project="many", name=f"{ranks} ranks", created=created)
    path = create_run(store, meta)
    for first in range(0, ranks, per_host):
        _write_node(path, meta.id, range(first, min(first + per_host, ranks)), ranks, points, leaders)
    return meta.id


def _write_node(path: Path, run_id: str, of_node: range, ranks: int, points: int, leaders: bool) -> None:
    """The ranks of one machine step together; its leader looks as often as it would in an hour."""
    host = f"node-{of_node[0] // len(of_node):03}"
    with tempfile.TemporaryDirectory() as name:
        local = Path(name) if leaders else path
        simulated = [_Rank(path if rank == 0 else local, run_id, rank, ranks, host) for rank in of_node]
        leader = NodeLeader(
            local, path, lambda: RunWriter(path, run_id=run_id, rank=of_node[0], role="node", **_quiet(host))
        )
        for point in range(points):
            for rank in simulated:
                rank.log(point)
            if leaders and point % LOOK_EVERY == LOOK_EVERY - 1:
                leader.look()
        for rank in simulated:
            rank.writer.close(End(time=time.time(), status="finished"))
        if leaders:
            leader.look()
            leader.close()


def _quiet(host: str) -> dict[str, Any]:
    return {"heartbeat_s": 0, "fsync_s": 0, "elsewhere": host}


class _Rank:
    def __init__(self, path: Path, run_id: str, rank: int, ranks: int, host: str) -> None:
        self.writer = RunWriter(path, run_id=run_id, rank=rank, **_quiet(host))
        self._row = self.writer.keyset(NAMES)
        self._chance = np.random.default_rng(rank)
        self._own_ms = 40.0 if rank == SLOW % ranks else 2.0
        self._memory = 3e10 + 1e8 * (rank % 8)

    def log(self, point: int) -> None:
        chance = self._chance
        data, forward = self._own_ms * chance.uniform(0.9, 1.1), chance.uniform(29, 31)
        backward = 110.0 - data - forward + chance.normal()
        loss = 4 / (1 + 0.02 * point) + 0.05 * chance.normal()
        self._row.write(point * 10, (loss, 1000 / 112, data, forward, backward, 2.0, self._memory))


def cpu_of_show(run: str, store: Path) -> tuple[float, str]:
    """CPU seconds of `stepscope show`, and what it said first."""
    began = _children_cpu()
    command = [sys.executable, "-m", "stepscope", "show", run, "--dir", str(store)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return _children_cpu() - began, done.stdout.splitlines()[1]


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def serve(store: Path, run: str, cache: str) -> None:
    """Time each question of the page to a fresh server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [sys.executable, "-m", "stepscope", "ui", str(store), "--port", str(port), "--no-token"]
    server = subprocess.Popen(
        command,
        env={**os.environ, "STEPSCOPE_CACHE": cache},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = _address(port)
        questions = {
            "run": {"run": run},
            "panels": {"runs": [run]},
            "series": {"runs": [run], "keys": ["train/loss"]},
            "ranks": {"run": run},
        }
        for turn in ("first", "again"):
            total, used = 0.0, _cpu_of(server.pid)
            for name, question in questions.items():
                began = time.monotonic()
                request = urllib.request.Request(
                    f"{address}/api/{name}",
                    msgspec.json.encode(question),
                    {"Content-Type": "application/json", "X-Stepscope": "1"},
                )
                with urllib.request.urlopen(request, timeout=300) as answer:
                    size = len(answer.read())
                spent = time.monotonic() - began
                total += spent
                print(f"  {turn:5} /api/{name:7} {spent:6.2f} s  {size / 1000:7.0f} kB")
            print(f"  {turn:5} all         {total:6.2f} s, {_cpu_of(server.pid) - used:.2f} CPU-s")
        status = Path(f"/proc/{server.pid}/status").read_text()
        print("  server:", *(line for line in status.splitlines() if line.startswith(("VmHWM", "VmRSS"))))
    finally:
        server.terminate()
        server.wait(20)


def _cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _address(port: int) -> str:
    """Wait until it answers."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api/info", timeout=2).read()
            return f"http://127.0.0.1:{port}"
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the server does not answer")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=4096)
    parser.add_argument("--points", type=int, default=200, help="per rank and series")
    parser.add_argument("--per-host", type=int, default=8)
    parser.add_argument("--no-leaders", dest="leaders", action="store_false")
    parser.add_argument("--keep", type=Path, help="write the run to this store and leave it there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = options.keep or Path(folder) / "runs"
        began = time.monotonic()
        run = write_run(store, options.ranks, options.points, options.per_host, options.leaders)
        files = [one for one in (store / run).rglob("*") if one.is_file()]
        size = sum(one.stat().st_size for one in files)
        print(f"written in {time.monotonic() - began:.0f} s: {len(files)} files, {size / 1e6:.0f} MB")
        for _ in range(2):
            seconds, said = cpu_of_show(run, store)
            print(f"  show: {seconds:.2f} CPU-s  ({said})")
        serve(store, run, f"{folder}/cache")


if __name__ == "__main__":
    main()
