"""What `stepscope run` costs a training, beside tools that watch it too, taking turns, as ratios.

    .venv/bin/python bench/overhead.py                              # CPU; makes a venv under .bench/ (some minutes)
    .venv/bin/python bench/overhead.py --arms plain,stepscope --steps 300
    python bench/overhead.py --device cuda                          # GPT-2 small; needs only torch and Stepscope

Every arm is a process with the same training script. They take turns, a block of steps each. "Steady" is the median of
the ratios of a block to the plain block of the same round, over the second half of the run: the pulse. "Whole run" is
all CPU time of the process, start-up and the closely watched first steps included. Threads: 1 on a CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from overhead_arms.arms import ARMS, BESIDE, REQUIREMENTS

HERE = Path(__file__).parent
ON_CUDA = ("plain", "stepscope", "pulse")
ON_CPU = (
    "plain",
    "stepscope",
    "pulse",
    "wandb.watch",
    "torch-audit",
    "detect_anomaly",
    "lightning",
    "lightning+SimpleProfiler",
)

OURS = ("stepscope", "pulse")


class Arm:
    """One process, standing ready for its turns."""

    def __init__(self, name: str, python: str, size: str, device: str, folder: Path) -> None:
        self.name = name
        self.blocks: list[dict[str, Any]] = []
        self.end: dict[str, Any] = {}
        self.whole_cpu = self.whole_wall = 0.0
        asks, self._ask = os.pipe()
        self._hear, hears = os.pipe()
        command = [python, *_launcher(name), str(HERE / "overhead_arms" / "train.py")]
        command += ["--arm", name.split(" ")[0], "--size", size, "--device", device]
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("STEPSCOPE", "PYTHON"))}
        environment = {
            **clean,
            "PYTHONPATH": str(HERE.parent / "src"),
            "BENCH_ASKS": str(asks),
            "BENCH_HEARS": str(hears),
            "STEPSCOPE_CACHE": str(folder / "cache"),
            "WANDB_MODE": "offline",
        }
        if device == "cpu":
            environment["OMP_NUM_THREADS"] = "1"
        self._said = (folder / "said").open("w+")
        self._started = time.perf_counter()
        self._process = subprocess.Popen(
            command, cwd=folder, env=environment, pass_fds=(asks, hears), stdout=self._said, stderr=self._said
        )
        os.close(asks)
        os.close(hears)
        self._from = os.fdopen(self._hear)
        self._answer()
        self.whole_wall += time.perf_counter() - self._started

    def turn(self, steps: int, counted: str = "") -> dict[str, Any]:
        os.write(self._ask, f"go {steps} {counted}\n".encode())
        block = self._answer()
        if not counted:
            self.blocks.append({"cpu": block["cpu"] / steps, "wall": block["wall"] / steps})
        self.whole_wall += block["wall"]
        return block

    def stop(self) -> None:
        began = time.perf_counter()
        os.write(self._ask, b"stop\n")
        self.end = self._answer()
        _, status, used = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self.whole_cpu = used.ru_utime + used.ru_stime
        self.whole_wall += time.perf_counter() - began

    def _answer(self) -> dict[str, Any]:
        line = self._from.readline()
        if not line:
            self._said.seek(0)
            raise SystemExit(f"{self.name} has ended early:\n{self._said.read()[-3000:]}")
        return dict(json.loads(line))


def _launcher(name: str) -> list[str]:
    return ["-m", "stepscope", "run", *name.split(" ")[1:]] if name.startswith(OURS) else []


def ratio(arm: Arm, base: Arm, what: str, since: int = 0) -> tuple[float, float, float]:
    """The median of the ratios of neighbours, and the tenth and ninetieth of a hundred."""
    ratios = sorted(a[what] / b[what] for a, b in zip(arm.blocks[since:], base.blocks[since:], strict=True))
    tenth = len(ratios) // 10
    return statistics.median(ratios), ratios[tenth], ratios[-1 - tenth]


def table(arms: dict[str, Arm], steps: int) -> str:
    """Steady and whole, one line for each arm."""
    rows = [
        f"| | ms a step | steady, CPU time | steady, wall | whole run of {steps} steps, CPU time | wall "
        "| same weights |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, arm in arms.items():
        base = arms.get(BESIDE.get(name, "plain"), arm)
        half = len(arm.blocks) // 2
        ms = 1000 * statistics.median(block["wall"] for block in arm.blocks[half:])
        cpu, wall = (ratio(arm, base, what, half) for what in ("cpu", "wall"))
        same = "yes" if arm.end["weights"] == base.end["weights"] else "NO"
        rows.append(
            f"| {name} | {ms:.1f} | {_shown(cpu)} | {_shown(wall)} | {arm.whole_cpu / base.whole_cpu:.3f}x "
            f"({arm.whole_cpu:.1f} s) | {arm.whole_wall / base.whole_wall:.3f}x | {same} |"
        )
    return "\n".join(rows)


def _shown(found: tuple[float, float, float]) -> str:
    return f"{found[0]:.3f}x ({found[1]:.3f} to {found[2]:.3f})"


def waits(arms: dict[str, Arm], steps: int) -> str:
    """How often the host waited for the GPU in a block of steps, arm by arm."""
    lines = [f"host waits in {steps} steady steps (each block ends with one wait of the bench's own):"]
    for name, arm in arms.items():
        for how in ("sync", "profile"):
            lines.append(f"  {name:26} {how:8} {json.dumps(arm.turn(steps, how)['counted'])}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--size", default="", help="cpu, gpt2-small or tiny")
    parser.add_argument("--arms", default="", help="of: " + ", ".join(ARMS))
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--block", type=int, default=20, help="steps in a turn")
    parser.add_argument("--python", default="", help="the interpreter; a venv of the bench's own for peers")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    cuda = options.device == "cuda"
    names = options.arms.split(",") if options.arms else list(ON_CUDA if cuda else ON_CPU)
    python = options.python or sys.executable
    if not options.python and not cuda and any(not name.startswith(("plain", *OURS)) for name in names):
        from peers import peer_python

        python = str(peer_python("overhead", REQUIREMENTS))
    size = options.size or ("gpt2-small" if cuda else "cpu")
    with tempfile.TemporaryDirectory(prefix="overhead-") as folder:
        arms = {}
        for number, name in enumerate(names):
            (Path(folder) / str(number)).mkdir()
            arms[name] = Arm(name, python, size, options.device, Path(folder) / str(number))
        for round_ in range(options.steps // options.block):
            # who is first changes, so that nobody always runs behind the same neighbour
            for name in [*names[round_ % len(names) :], *names[: round_ % len(names)]]:
                arms[name].turn(options.block)
        said = waits(arms, 10) if cuda else ""
        for arm in arms.values():
            arm.stop()
    print(table(arms, options.steps))
    if cuda:
        import torch

        print(said + f"\n{torch.cuda.get_device_name()}, torch {torch.__version__}, {size}")
        print("peak bytes: " + json.dumps({name: arm.end["peak_bytes"] for name, arm in arms.items()}))
    if options.json:
        facts = {n: {"blocks": a.blocks, "whole_cpu": a.whole_cpu, "end": a.end} for n, a in arms.items()}
        options.json.write_text(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
