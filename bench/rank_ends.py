"""How a job of two ranks ends, plain and under `stepscope run`: does anybody wait for us?

    python bench/rank_ends.py                 # every kind of end, three times
    python bench/rank_ends.py hang --times 5

For each kind: seconds from the start of torchrun to the script's first line, and from the event (the last line, the
exception, the signal) to the end of torchrun; the median of each, plain and watched in turn, and the difference.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from ranks import _free_port

KINDS = ("finish", "exception", "sigterm", "sigkill", "hang")
SCRIPT = """
import os, sys, time
from pathlib import Path
folder, kind = Path(os.environ["ENDS"]), os.environ["KIND"]
rank = int(os.environ["RANK"])

def note(what):
    (folder / f"{what}-{rank}").write_text(f"{time.time()} {os.getpid()}")

note("began")
import torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(torch.nn.Linear(16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
steps = 60 if kind in ("finish", "exception", "hang") else 100_000
for step in range(steps):
    torch.manual_seed(100 * step + rank)
    x = torch.randn(32, 16)
    loss = (model(x) - x[:, :4]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.02)
    if step == 40:
        note("trains")
    if step == 50 and kind == "exception" and rank == 1:
        note("event")
        raise ValueError("a planted fault")
if kind == "hang":
    note("event")
    if rank == 0:
        dist.barrier()
    time.sleep(1000)
note("event")
dist.destroy_process_group()
"""
SETTLES_S = 2.0
"""A hang is left alone for so long before the signal."""
LIMIT_S = 180.0


@dataclass
class Ended:
    begin_s: float
    end_s: float
    code: int
    status: str = ""


def run(kind: str, watched: bool) -> Ended:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "train.py").write_text(SCRIPT)
        torchrun = ["torchrun", "--nproc-per-node", "2", "--master-port", str(_free_port()), "train.py"]
        ours = [sys.executable, "-m", "stepscope", "run", *torchrun]
        plain = [sys.executable, "-m", "torch.distributed.run", *torchrun[1:]]
        environment = {
            **os.environ, "ENDS": name, "KIND": kind, "OMP_NUM_THREADS": "1", "STEPSCOPE_DIR": f"{name}/runs",
        }  # fmt: skip
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed Stepscope is compiled, as torch is
        began = time.time()
        job = subprocess.Popen(
            ours if watched else plain,
            cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            event = _provoke(kind, folder, job)
            code = job.wait(LIMIT_S)
            ended = time.time()
        finally:
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGKILL)
        first, _ = _noted(folder, "began", 0)
        return Ended(first - began, ended - (event or _noted(folder, "event", 0, 1)[0]), code, _status(environment))


def _provoke(kind: str, folder: Path, job: subprocess.Popen[bytes]) -> float | None:
    """Send the signal, where the end is one; when it was sent."""
    if kind in ("finish", "exception"):
        return None
    waits_for = "event" if kind == "hang" else "trains"
    _, victim = _noted(folder, waits_for, 1)
    _noted(folder, waits_for, 0)
    if kind == "hang":
        time.sleep(SETTLES_S)
    now = time.time()
    os.kill(victim if kind == "sigkill" else job.pid, signal.SIGKILL if kind == "sigkill" else signal.SIGTERM)
    return now


def _noted(folder: Path, what: str, *ranks: int) -> tuple[float, int]:
    """The last time any of these ranks wrote it down; waits for one of them."""
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        found = [(folder / f"{what}-{rank}") for rank in ranks]
        said = [one.read_text().split() for one in found if one.exists()]
        if said and all(len(one) == 2 for one in said):
            when, pid = max(said)
            return float(when), int(pid)
        time.sleep(0.01)
    raise SystemExit(f"no rank came to {what!r}")


def _status(environment: dict[str, str]) -> str:
    shown = subprocess.run(
        [sys.executable, "-m", "stepscope", "show", "last", "--json"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return str(json.loads(shown.stdout).get("status", "")) if shown.returncode == 0 else ""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="*", default=KINDS)
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    late = 0
    print(f"{'':10} {'begin: plain':>13} {'watched':>8}   {'end: plain':>11} {'watched':>8} {'more':>6}  status")
    for kind in given.kinds:
        plain, ours = [], []
        for _ in range(given.times):
            plain.append(run(kind, watched=False))
            ours.append(run(kind, watched=True))
        begin = [statistics.median(one.begin_s for one in all) for all in (plain, ours)]
        end = [statistics.median(one.end_s for one in all) for all in (plain, ours)]
        late += end[1] - end[0] > 2
        statuses = sorted({one.status for one in ours})
        codes = {one.code for one in plain} | {one.code for one in ours}
        print(
            f"{kind:10} {begin[0]:11.1f} s {begin[1]:6.1f} s   {end[0]:9.1f} s {end[1]:6.1f} s {end[1] - end[0]:+5.1f}"
            f"  {', '.join(statuses)}  (exit {', '.join(map(str, sorted(codes)))})",
            flush=True,
        )
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
