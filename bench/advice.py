"""Advice against trial: what `stepscope profile` promises for slow scripts, and what following it really gives.

    .venv/bin/python bench/advice.py                     # all scripts for a CPU, about half an hour on an idle machine
    .venv/bin/python bench/advice.py --only loader       # those whose name holds a word
    .venv/bin/python bench/advice.py --gpu               # those for a GPU, about 4 minutes; stops by itself after 5
    .venv/bin/python bench/advice.py --json table.json   # written after each script: what was done counts if it is cut off

Every script comes slow and with the advice followed by hand. The slow one is profiled, which gives the promise (measured
in the running training, or estimated); then both run in turn, each in a process of its own, which gives the truth. A promise
has the wrong sign when it says faster and the truth is slower; it is near when it is within 0.7 to 1.4 times the truth.
Scripts of one thread are compared by their CPU time, which other programs of a busy machine change little; those with workers
by the wall time of all steps; those with threads, or on a GPU, by wall time too (`by` in the table). The load of the machine
while they ran stands beside them.
"""

# ruff: noqa: E501

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepscope.launch.script import find_script
from stepscope.profile.advice.trials import time_steps

SKELETON = """
import time
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler, TensorDataset

torch.manual_seed(0)
torch.set_num_threads({threads})
device = "{device}"
{data}
model = {model}
optimizer = {optimizer}
def step(batch):
    x, y = batch
    {move}
    {forward}
    optimizer.zero_grad({zero})
    loss.backward()
    optimizer.step()
    {after}
if __name__ == "__main__":
    {loader}
    for epoch in range(100000):
        {each_epoch}
        for batch in loader:
            step(batch)
"""
USUAL = {
    "threads": "1",
    "device": "cpu",
    "data": "data = TensorDataset(torch.randn(2048, 64), torch.randint(0, 8, (2048,)))",
    "model": "nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8))",
    "optimizer": "torch.optim.SGD(model.parameters(), lr=0.01)",
    "move": "pass",
    "forward": "loss = F.cross_entropy(model(x), y)",
    "zero": "",
    "after": "pass",
    "loader": "loader = DataLoader(data, batch_size=32, shuffle=True)",
    "each_epoch": "pass",
}
EIGHT = "loader = DataLoader(data, batch_size=8, shuffle=True)"
WHOLE = "loader = DataLoader(data, sampler=BatchSampler(RandomSampler(data), {}, False), batch_size=None)"
DEEP = "nn.Sequential(*[nn.Linear(64, 64) for _ in range({})], nn.Linear(64, 8))"
WORKERS = "loader = DataLoader(data, batch_size={}, shuffle=True, num_workers={}, persistent_workers=True)"


def dataset(get: str, length: int = 2048, init: str = "pass") -> str:
    body = f"""
    class Data(Dataset):
        def __init__(self):
            {init}
        def __len__(self):
            return {length}
        def __getitem__(self, i):
            {get}
    data = Data()"""
    return textwrap.dedent(body)


SLEEPS = "time.sleep({}); return torch.ones(64), i % 8"
WORKS = "a = np.sort(np.random.default_rng(i).random({})); return torch.full((64,), float(a[0])), i % 8"
CPU = dataset("return torch.tensor(self.rows[i]), i % 8", init="self.rows = [list(map(float, range(64)))] * 2048")
KEPT = dataset("return self.rows[i], i % 8", init="self.rows = torch.arange(64.0).repeat(2048, 1)")
PARSED = dataset("return torch.tensor([float(w) for w in self.rows[i].split()]), i % 8",
                 init="self.rows = [' '.join(map(str, range(64)))] * 2048")  # fmt: skip
IMAGES = dataset("return torch.from_numpy(self.rows[i].astype(np.float32) / 255).flatten()[:64], i % 8",
                 init="self.rows = np.zeros((2048, 64, 64, 3), np.uint8)")  # fmt: skip
LOOP = "loss = torch.stack([F.cross_entropy(model(x[i : i + 1]), y[i : i + 1]) for i in range(len(x))]).mean()"
COUNT = "hits = sum(int(model(x)[i].argmax() == y[i]) for i in range(len(x)))"
COUNTED = "hits = int((model(x).argmax(1) == y).sum())"
BY_COLUMN = "out = model(x)\n    loss = sum((out[:, c] - 1).pow(2).mean() for c in range(8))"
AT_ONCE = "out = model(x)\n    loss = (out - 1).pow(2).mean(0).sum()"
WIDE = "nn.Sequential(nn.Linear(64, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 8))"
CONV = "nn.Sequential(nn.Unflatten(1, (1, 8, 8)), nn.Conv2d(1, 64, 3), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.Flatten(), nn.Linear(1024, 8))"  # fmt: skip
ADAM, SGD = "torch.optim.{}(model.parameters(){})", "torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9{})"


@dataclass(frozen=True)
class Case:
    name: str
    rule: str
    slow: dict[str, str] = field(default_factory=dict)
    fast: dict[str, str] = field(default_factory=dict)
    """What is different when the advice is followed."""
    by: str = "cpu"
    """What is compared: CPU time, or wall time, or the wall time of quick steps."""
    tries: bool = False
    """The profile runs the script again with the change: for advice that promises nothing untried."""


def optimizers(name: str, depth: int) -> Case:
    slow = {"model": DEEP.format(depth), "optimizer": ADAM.format(name, "")}
    return Case(f"optimizer {name} {depth}", "optimizer-loop", slow, {"optimizer": ADAM.format(name, ", fused=True")})


ON_CPU = [
    Case("loader sleeps 10 ms", "loader-in-main-process", {"data": dataset(SLEEPS.format(0.01)), "loader": EIGHT}, {"loader": WORKERS.format(8, 1)}, "wall"),
    Case("loader sleeps 4 ms", "loader-in-main-process", {"data": dataset(SLEEPS.format(0.004)), "loader": EIGHT}, {"loader": WORKERS.format(8, 1)}, "wall"),
    Case("loader works 20k", "loader-in-main-process", {"data": dataset(WORKS.format(20_000))}, {"loader": WORKERS.format(32, 1)}, "wall"),
    Case("loader works 2k", "loader-in-main-process", {"data": dataset(WORKS.format(2_000))}, {"loader": WORKERS.format(32, 1)}, "wall"),
    Case("loader of a tiny set", "loader-in-main-process", {}, {"loader": WORKERS.format(32, 1)}, "wall"),
    Case("loader tiny, wide batch", "loader-in-main-process", {"loader": "loader = DataLoader(data, batch_size=256)"},
         {"loader": WORKERS.format(256, 1)}, "wall"),
    Case("items of 64", "item-by-item", {"loader": "loader = DataLoader(data, batch_size=64, shuffle=True)"}, {"loader": WHOLE.format(64)}),
    Case("items of 256", "item-by-item", {"loader": "loader = DataLoader(data, batch_size=256, shuffle=True)"}, {"loader": WHOLE.format(256)}),
    Case("items of 512", "item-by-item", {"loader": "loader = DataLoader(data, batch_size=512, shuffle=True)"}, {"loader": WHOLE.format(512)}),
    Case("lists made tensors", "prepared-again", {"data": CPU}, {"data": KEPT}),
    Case("text parsed", "prepared-again", {"data": PARSED}, {"data": KEPT}),
    Case("images converted", "prepared-again", {"data": IMAGES}, {"data": KEPT}),
    optimizers("Adam", 20),
    optimizers("Adam", 60),
    optimizers("AdamW", 40),
    Case("optimizer SGD 60", "optimizer-loop", {"model": DEEP.format(60), "optimizer": SGD.format("")}, {"optimizer": SGD.format(", fused=True")}),
    Case("threads 1, wide", "cpu-threads", {"model": WIDE}, {"threads": "2"}, "quick"),
    Case("threads 1, convolution", "cpu-threads", {"model": CONV}, {"threads": "2"}, "quick"),
    Case("anomaly, deep", "debug-switches", {"model": DEEP.format(20), "each_epoch": "torch.autograd.set_detect_anomaly(True)"},
         {"each_epoch": "pass"}),
    Case("anomaly, wide", "debug-switches", {"model": WIDE, "each_epoch": "torch.autograd.set_detect_anomaly(True)"}, {"each_epoch": "pass"}),
    Case("gradients zeroed, wide", "gradients-zeroed", {"model": WIDE, "zero": "set_to_none=False"}, {"zero": ""}),
    Case("gradients zeroed, deep", "gradients-zeroed", {"model": DEEP.format(60), "zero": "set_to_none=False"}, {"zero": ""}),
    Case("double, wide", "double-precision", {"model": f"({WIDE}).double()", "move": "x = x.double()"}, {"model": WIDE, "move": "pass"}),
    Case("double, convolution", "double-precision", {"model": f"({CONV}).double()", "move": "x = x.double()"}, {"model": CONV, "move": "pass"}),
    Case("loop over samples", "tensor-loop", {"forward": LOOP}, {}),
    Case("loop over columns", "tensor-loop", {"forward": BY_COLUMN}, {"forward": AT_ONCE}),
    Case("loop that counts", "tensor-loop", {"after": COUNT}, {"after": COUNTED}),
    Case("workers restarted", "workers-restarted",
         {"data": dataset(SLEEPS.format(0.0005), 256), "loader": "loader = DataLoader(data, batch_size=32, num_workers=1)"},
         {"loader": "loader = DataLoader(data, batch_size=32, num_workers=1, persistent_workers=True)"}, "wall"),
]  # fmt: skip

GPU = {"device": "cuda", "move": "x, y = x.to(device), y.to(device)"}
BIG = "nn.Sequential(nn.Linear(64, 8192), nn.ReLU(), *[nn.Linear(8192, 8192) for _ in range(4)], nn.Linear(8192, 8)).to(device)"
LARGE = "loader = DataLoader(data, batch_size=1024, shuffle=True)"
SMALL_GPU = f"({DEEP.format(60)}).to(device)"
AMP = 'with torch.autocast("cuda", torch.bfloat16):\n        loss = F.cross_entropy(model(x), y)'
ON_GPU = [
    Case("gpu tf32", "no-tf32", {**GPU, "model": BIG, "loader": LARGE}, {"each_epoch": 'torch.set_float32_matmul_precision("high")'}, "wall"),
    Case("gpu amp", "no-mixed-precision", {**GPU, "model": BIG, "loader": LARGE}, {"forward": AMP}, "wall"),
    Case("gpu optimizer loop", "optimizer-loop", {**GPU, "model": SMALL_GPU, "optimizer": ADAM.format("Adam", ", foreach=False")},
         {"optimizer": ADAM.format("Adam", ", fused=True")}, "wall"),
    Case("gpu item by item", "item-by-item", {**GPU, "model": SMALL_GPU, "loader": LARGE}, {"loader": WHOLE.format(1024)}, "wall"),
    Case("gpu loader sleeps", "loader-in-main-process", {**GPU, "model": SMALL_GPU, "data": dataset(SLEEPS.format(0.001))},
         {"loader": WORKERS.format(32, 8)}, "wall"),
    Case("gpu waits for values", "sync-every-step", {**GPU, "model": SMALL_GPU, "after": "for p in model.parameters(): p.grad.norm().item()"},
         {"after": "for p in model.parameters(): p.grad.norm()"}, "wall"),
    Case("gpu loop that counts", "tensor-loop", {**GPU, "model": SMALL_GPU, "after": COUNT}, {"after": COUNTED}, "wall"),
    Case("gpu launches", "launch-bound", {**GPU, "model": SMALL_GPU},
         {"model": f'torch.compile({SMALL_GPU}, mode="reduce-overhead")'}, "wall", tries=True),
]  # fmt: skip


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    asked.add_argument("--gpu", action="store_true", help="the scripts for a GPU")
    asked.add_argument("--only", default="", help="scripts whose name holds this")
    asked.add_argument("--by", default="", choices=("", "cpu", "wall", "quick"), help="scripts compared by this time")
    asked.add_argument("--rounds", type=int, help="runs of each version (3; on a GPU 1)")
    asked.add_argument("--seconds", type=float, help="begin no script after this (on a GPU 240)")
    asked.add_argument("--json", type=Path, help="write the table here too, after each script")
    options = asked.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    rounds = options.rounds or (1 if options.gpu else 3)
    until = time.monotonic() + (options.seconds or (240.0 if options.gpu else 1e9))
    rows: list[dict[str, Any]] = []
    print("| script | advice | promised | how | range | measured | by | load | promised / measured |")
    print("|---|---|---|---|---|---|---|---|---|")
    for case in ON_GPU if options.gpu else ON_CPU:
        if options.only not in case.name or options.by not in ("", case.by):
            continue
        if time.monotonic() > until:
            print(f"no time left for {case.name}")
            continue
        rows.append(row := compared(case, rounds))
        print(line(row), flush=True)
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1))
    print(summary(rows))
    return 0


def compared(case: Case, rounds: int) -> dict[str, Any]:
    """What is promised for a script, and what following it gives."""
    with tempfile.TemporaryDirectory() as folder:
        slow, fast = Path(folder) / "slow.py", Path(folder) / "fast.py"
        slow.write_text(SKELETON.format(**{**USUAL, **case.slow}))
        promised = promise(slow, case)
        text = SKELETON.format(**{**USUAL, **case.slow, **(case.fast or {"forward": USUAL["forward"]})})
        number = re.search(r"num_workers=\d+", promised.pop("fix", ""))
        fast.write_text(re.sub(r"num_workers=\d+", number[0], text) if number else text)  # as many as were advised
        return {"name": case.name, "rule": case.rule, **promised, **truth(slow, fast, rounds, case.by)}


def promise(script: Path, case: Case) -> dict[str, Any]:
    """The gain that the profile promises for one rule; 1.0 where it does not advise it, or has withdrawn it."""
    answer = script.parent / "profile.json"
    command = [
        sys.executable,
        "-m",
        "stepscope",
        "profile",
        "--dir",
        str(script.parent / "runs"),
        "--json",
        str(answer),
    ]
    command += ["--try"] * case.tries
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run([*command, str(script)], **quiet, timeout=300, check=False)  # type: ignore[call-overload]
    if not answer.exists():
        return {"promised": None, "how": "no profile", "range": []}
    told = json.loads(answer.read_text())
    found = [one for one in told["advice"] if one["rule"] == f"perf.{case.rule}" and one["evidence"].get("basis")]
    if not found:
        return {"promised": 1.0, "how": "not advised", "range": []}
    evidence = found[0]["evidence"]
    if evidence["basis"] == "bound":
        return {"promised": 1.0, "how": "bound", "range": evidence["gain_range"], "fix": found[0]["fix"]}
    saving, step = float(evidence["saving_ms"]) * 1e6, float(told["step_ns"])
    gain = evidence["measured"]["gain"] if "measured" in evidence else step / max(step - saving, step / 20)
    return {"promised": gain, "how": evidence["basis"], "range": evidence["gain_range"], "fix": found[0]["fix"]}


def truth(slow: Path, fast: Path, rounds: int, by: str) -> dict[str, Any]:
    """How much faster the script gets, round by round, and what a step of both takes."""
    found: list[tuple[float, float]] = []
    loads: list[float] = []
    for turn in range(rounds):
        loads.append(os.getloadavg()[0])
        both = [
            time_steps(find_script(str(one), []), steps=600, warm_up=12, seconds=5.0)
            for one in in_turn(slow, fast, turn)
        ]
        both = list(in_turn(*both, turn))
        error = both[0]["error"] or both[1]["error"]
        if error or not both[0]["steps"] or not both[1]["steps"]:
            return {"measured": None, "by": by, "error": error or "no steps"}
        found.append((step_ns(both[0], by), step_ns(both[1], by)))
    ratios = [plain / changed for plain, changed in found]
    steps_ms = [statistics.median(one[at] for one in found) / 1e6 for at in (0, 1)]
    return {
        "measured": statistics.median(ratios),
        "spread": [min(ratios), max(ratios)],
        "by": by,
        "step_ms": [round(one, 4) for one in steps_ms],
        "load": [round(min(loads), 1), round(max(loads), 1)],
    }


def in_turn(one: Any, other: Any, turn: int) -> tuple[Any, Any]:
    """Who goes first changes from round to round, so that other programs, which come and go, hit both alike."""
    return (other, one) if turn % 2 else (one, other)


def step_ns(answer: dict[str, Any], by: str) -> float:
    if by == "quick":
        return max(1.0, float(answer["quick_ns"]))
    return max(1.0, answer["cpu_ns" if by == "cpu" else "ns"] / answer["steps"])


def line(row: dict[str, Any]) -> str:
    promised, measured = row["promised"], row["measured"]
    between = " to ".join(f"{one:.2f}" for one in row["range"]) or "-"
    if promised is None or measured is None:
        return f"| {row['name']} | {row['rule']} | - | {row['how']} | {between} | - | - | - | {row.get('error', '')} |"
    spread = f"{row['spread'][0]:.2f} to {row['spread'][1]:.2f}"
    return (
        f"| {row['name']} | {row['rule']} | {promised:.2f}x | {row['how']} | {between} | {measured:.2f}x ({spread}) | {row['by']} | "
        f"{' to '.join(map(str, row['load']))} | "
        f"{promised / measured:.2f} |"
    )


def summary(rows: list[dict[str, Any]]) -> str:
    known = [row for row in rows if row["promised"] and row["measured"]]
    advised = [row for row in known if row["how"] in ("measured", "estimated")]
    wrong = [row["name"] for row in advised if row["measured"] < 0.97]
    near = [row for row in advised if 0.7 <= row["promised"] / row["measured"] <= 1.4]
    kept_back = [row["name"] for row in known if row["how"] == "not advised" and row["measured"] > 1.1]
    return (
        f"\n{len(rows)} scripts, {len(advised)} with the advice: wrong sign {len(wrong)} {wrong or ''}; "
        f"within 0.7 to 1.4: {len(near)} of {len(advised)}; would have helped and not advised: {kept_back or 'none'}"
    )


if __name__ == "__main__":
    sys.exit(main())
