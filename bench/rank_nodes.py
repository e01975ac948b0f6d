"""Two "nodes" in network namespaces, each with its own disk and name: one run, and what `stepscope merge` makes of it.

    sudo python bench/rank_nodes.py           # needs `ip netns` and `unshare`

Each node runs torchrun with two ranks over a virtual cable. A healthy job and one whose ranks all train on the same
data; then the folders of both nodes are merged, and once more with one node's folder missing.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NODES = ("a", "b")
PREFIX = f"ss{os.getpid() % 10000}"
STEPS = 40
SCRIPT = """
import os, sys
import torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
dist.init_process_group("gloo")
torch.manual_seed(0)
data = TensorDataset(torch.randn(640, 8), torch.randint(0, 2, (640,)))
sampler = None if "same" in sys.argv else DistributedSampler(data)
loader = DataLoader(data, batch_size=4, sampler=sampler)
model = DDP(torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step, (x, y) in enumerate(loader):
    if step == STEPS:
        break
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
dist.destroy_process_group()
"""


def sh(*words: str) -> None:
    subprocess.run(words, check=True)


def cable() -> None:
    for at, node in enumerate(NODES):
        sh("ip", "netns", "add", f"{PREFIX}{node}")
        sh("ip", "-n", f"{PREFIX}{node}", "link", "set", "lo", "up")
        if at == 0:
            sh("ip", "link", "add", f"{PREFIX}v0", "type", "veth", "peer", "name", f"{PREFIX}v1")
        sh("ip", "link", "set", f"{PREFIX}v{at}", "netns", f"{PREFIX}{node}")
        sh("ip", "-n", f"{PREFIX}{node}", "addr", "add", f"10.77.0.{at + 1}/24", "dev", f"{PREFIX}v{at}")
        sh("ip", "-n", f"{PREFIX}{node}", "link", "set", f"{PREFIX}v{at}", "up")


def job(folder: Path, *arguments: str) -> float:
    """Run it on both nodes; how long it took."""
    began = time.monotonic()
    running = []
    for at, node in enumerate(NODES):
        own = folder / node
        (own / "tmp").mkdir(parents=True)
        (own / "train.py").write_text(SCRIPT.replace("STEPS", str(STEPS)))
        words = [
            "ip", "netns", "exec", f"{PREFIX}{node}", "unshare", "--uts",
            "sh", "-c", f'hostname node-{node}; exec "$@"',
            "sh", sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--node-rank", str(at),
            "--nproc-per-node", "2", "--master-addr", "10.77.0.1", "--master-port", "29555", "--local-addr",
            f"10.77.0.{at + 1}", "-m", "stepscope", "run", "train.py", *arguments,
        ]  # fmt: skip
        environment = {
            **os.environ, "STEPSCOPE_DIR": str(own / "runs"), "TMPDIR": str(own / "tmp"), "OMP_NUM_THREADS": "1",
            "GLOO_SOCKET_IFNAME": f"{PREFIX}v{at}", "TP_SOCKET_IFNAME": f"{PREFIX}v{at}",
        }  # fmt: skip
        log = (own / "log").open("wb")
        running.append(subprocess.Popen(words, cwd=own, env=environment, stdout=log, stderr=log))
    codes = [one.wait(300) for one in running]
    if any(codes):
        print((folder / "a" / "log").read_text()[-2000:], (folder / "b" / "log").read_text()[-2000:])
        raise SystemExit(f"the job failed: {codes}")
    return time.monotonic() - began


def stepscope(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", "stepscope", *words], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else f"FAILED: {done.stderr}"


def shown(store: Path) -> str:
    """Runs of a store: how many ranks each has, how many points of the loss, and what was found."""
    import stepscope as reading

    told = []
    for run in reading.runs(store):
        ranks = run.ranks
        points = [len(run.series("train/loss", rank=rank).steps) for rank in ranks]
        found = json.loads(stepscope("show", str(run.path), "--json"))["findings"]
        loud = [f"{one['rule']}: {one['message']}" for one in found if one["severity"] != "info"]
        told.append(f"ranks {ranks}, points {points}, {run.status}; {'; '.join(loud) or 'nothing found'}")
    return " | ".join(told) or "no run"


def main() -> None:
    cable()
    try:
        for name, arguments in (("healthy", []), ("same data", ["same"])):
            with tempfile.TemporaryDirectory() as text:
                folder = Path(text)
                seconds = job(folder, *arguments)
                print(f"{name}: {seconds:.1f} s")
                print(f"  node a: {shown(folder / 'a' / 'runs')}")
                print(f"  node b: {shown(folder / 'b' / 'runs')}")
                alone = folder / "alone"
                shutil.copytree(folder / "b" / "runs", alone)
                print(f"  only b arrives: {shown(alone)}")
                stepscope("merge", "last", str(folder / "b" / "runs"), "--dir", str(folder / "a" / "runs"))
                print(f"  merged: {shown(folder / 'a' / 'runs')}", flush=True)
    finally:
        for node in NODES:
            subprocess.run(["ip", "netns", "del", f"{PREFIX}{node}"], check=False)


if __name__ == "__main__":
    main()
