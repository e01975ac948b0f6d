"""How much faster examples/slow_training gets by following the printed advice, one piece a step.

    .venv/bin/python bench/faster.py                  # five rounds, a minute or two
    .venv/bin/python bench/faster.py --rounds 1 --no-profile

Every round runs all the stages one after the other, each in a process of its own, so that a busy machine is busy for
all of them. Shown are a step's wall time and CPU time (medians of the rounds), how much faster than the first stage
that is (the median of the rounds' ratios), and the advice that `stepscope profile` prints, largest saving first.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from stepscope.launch.script import find_script
from stepscope.profile.advice.trials import time_steps

STAGES = sorted((Path(__file__).parent.parent / "examples/slow_training").glob("step*.py"))
STEPS, WARM_UP = 150, 20


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("--no-profile", action="store_true", help="only the times")
    options = asked.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    walls: dict[str, list[float]] = {stage.name: [] for stage in STAGES}
    works: dict[str, list[float]] = {stage.name: [] for stage in STAGES}
    for _ in range(options.rounds):
        for stage in STAGES:
            timed = time_steps(find_script(str(stage), ["100000"]), steps=STEPS, warm_up=WARM_UP)
            if timed["error"]:
                print(f"{stage.name}: {timed['error']}", file=sys.stderr)
                return 1
            walls[stage.name].append(timed["ns"] / timed["steps"] / 1e6)
            works[stage.name].append(timed["cpu_ns"] / timed["steps"] / 1e6)
    advice = {stage.name: "" if options.no_profile else first_advice(stage) for stage in STAGES}
    print("| stage | a step, wall | CPU time | faster, wall | faster, CPU time | the advice printed for it |")
    print("|---|---|---|---|---|---|")
    for stage in STAGES:
        name = stage.name
        faster = [ratio(table, name) for table in (walls, works)]
        figures = f"{statistics.median(walls[name]):.2f} ms | {statistics.median(works[name]):.2f} ms"
        print(f"| {name} | {figures} | {faster[0]:.1f}x | {faster[1]:.1f}x | {advice[name]} |")
    return 0


def ratio(table: dict[str, list[float]], name: str) -> float:
    """Against the first stage, round by round: its median."""
    return statistics.median(slow / fast for slow, fast in zip(table[STAGES[0].name], table[name], strict=True))


def first_advice(stage: Path) -> str:
    """The rules that `stepscope profile` names for a stage, largest saving first."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "profile.json"
        command = [
            sys.executable,
            "-m",
            "stepscope",
            "profile",
            "--dir",
            folder,
            "--json",
            str(answer),
            str(stage),
            "100000",
        ]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        findings = json.loads(answer.read_text())["advice"]
    return ", ".join(f"`{one['rule'].removeprefix('perf.')}`" for one in findings[:3]) or "none"


if __name__ == "__main__":
    sys.exit(main())
