"""What `stepscope run` costs a training, beside tools that watch it too, as ratios.

    .venv/bin/python bench/overhead.py                     # CPU, all peers; makes a venv under .bench/ (half an hour)
    .venv/bin/python bench/overhead.py --quick             # plain and stepscope only, two minutes
    .venv/bin/python bench/overhead.py --only mlp,gpt --arms plain,stepscope --rounds 5
    .venv/bin/python bench/overhead.py --only memory --memory-steps 1000000
    .venv/bin/python bench/overhead.py --source ../other   # measures the src/ of another checkout
    python bench/overhead.py --device cuda                 # five nets of 30 s each; needs torch and Stepscope only

Each arm runs the same script as a process of its own, from start to end. On a CPU all figures are CPU time with one
thread, and the arms run at the same time on one core, where the system switches between them every few milliseconds:
what slows the machine slows all of them. The arm "again", a second plain one, shows what is left of the noise. On a GPU
the arms run one after the other, in wall time. "Steady" is the second half of
the run. "Whole run of 200" is the process until its 200th step and its end. "Fixed cost" is what a run of 100 steps
costs more than the plain script: boot, imports, the closely watched first steps, the end. "Calls" are the calls of
Stepscope's functions in a late step, and its calls into C: they do not depend on how busy the machine is.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from overhead_arms.arms import ALONE, ARMS, BESIDE, DEFAULT, REQUIREMENTS
from overhead_arms.figures import Figures, Works, cpu_table, gpu_table, memory_table, most_called, watched
from overhead_arms.goals import goals
from overhead_arms.plans import CPU, GPU, Plan
from overhead_arms.runs import Process, Run, Setup

ROOT = Path(__file__).resolve().parent.parent


def measure(plan: Plan, names: list[str], setup: Setup, options: argparse.Namespace) -> dict[str, list[Run]]:
    """All rounds of one training. A GPU's plain run sets the number of steps of the others."""
    runs: dict[str, list[Run]] = {name: [] for name in names}
    steps = plan.quick if options.quick else plan.steps
    for number in range(options.rounds):
        order = names[:: 1 if number % 2 == 0 else -1]
        count = number == 0
        if options.apart or options.wall:
            for name in order:
                run = Process(name, plan, setup, steps, 0 if steps else options.seconds, count).finish()
                steps = run.steps
                runs[name].append(run)
        else:
            started = [Process(name, plan, setup, steps, 0, count, core()) for name in order]
            for name, process in zip(order, started, strict=True):
                runs[name].append(process.finish())
        for name in order:
            run = runs[name][-1]
            print(f"  {plan.name:12} {name:26} {run.whole_cpu:7.2f} CPU-s {run.whole_wall:7.2f} s", flush=True)
    return runs


def core() -> int:
    """One core for all arms, so that the system switches between them every few milliseconds."""
    return max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else -1


def compared(runs: dict[str, list[Run]]) -> dict[str, Figures]:
    """Each arm beside the one it is compared with."""
    found = {}
    for name, rounds in runs.items():
        base = runs.get(BESIDE.get(name, "plain"), rounds)
        found[name] = Figures(list(zip(rounds, base, strict=True)))
    return found


def report(works: Works, inside: dict[str, dict[str, Any]], wall: bool) -> str:
    """All tables."""
    if wall:
        parts = [gpu_table(works), "\n".join(waits(works))]
    else:
        parts = [cpu_table({work: arms for work, arms in works.items() if work != "memory"})]
        parts += [memory_table(works["memory"])] if "memory" in works else []
    for work, name, one in watched(works):
        most = most_called(one)
        parts += [f"Called most in a step, {work}, {name}: {most}"] if most else []
    if inside:
        from overhead_arms.inside import inside_table

        parts.append("One recorded step, beside the plain step or forward:\n\n" + inside_table(inside))
    return "\n\n".join([*parts, "### Goals", goals(works, inside, wall)])


def waits(works: Works) -> list[str]:
    """How often the host waited for the GPU in ten late steps; each block ends with one wait of the bench's own."""
    lines = ["Host waits in ten late steps:"]
    for work, arms in works.items():
        for name, one in arms.items():
            facts = one.rounds[0][0].facts
            lines += [
                f"  {work:12} {name:12} {how} {facts[how]['waits']}" for how in ("sync", "profile") if how in facts
            ]
    return lines if len(lines) > 1 else []


def chosen_plans(options: argparse.Namespace) -> list[Plan]:
    known = {plan.name: plan for plan in (*CPU, *GPU)}
    known["memory"] = Plan("memory", "resident memory of the MLP's process", options.memory_steps, 4_000, peers=False)
    if options.only:
        return [known[name] for name in options.only.split(",") if name != "inside"]
    if options.device == "cuda":
        return list(GPU)
    return [*CPU, *([] if options.quick else [known["memory"]])]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ", ".join(plan.name for plan in (*CPU, *GPU))
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--quick", action="store_true", help="fewer steps, two rounds, plain and stepscope only")
    parser.add_argument("--only", default="", help=f"of: {names}, memory, inside (one recorded step)")
    parser.add_argument("--arms", default="", help="of: " + ", ".join(ARMS))
    parser.add_argument("--rounds", type=int, default=0, help="3; with --quick 2; on a GPU 1")
    parser.add_argument("--seconds", type=float, default=30, help="the length of a plain run on a GPU")
    parser.add_argument("--memory-steps", type=int, default=20_000)
    parser.add_argument("--apart", action="store_true", help="one arm after the other on a CPU too")
    parser.add_argument("--tiny", action="store_true", help="nets of a GPU shrunk, to try the bench on a CPU")
    parser.add_argument("--source", type=Path, default=ROOT, help="a checkout; its src/ is measured")
    parser.add_argument("--python", default="", help="the interpreter; by default this one, or a venv with the peers")
    parser.add_argument("--json", type=Path, help="also write the figures and readings here")
    parser.add_argument("--show", type=Path, nargs="+", help="measure nothing; print the tables of these --json files")
    options = parser.parse_args()
    options.source = options.source.resolve()
    options.wall = options.device == "cuda" or options.only.split(",")[0] in {plan.name for plan in GPU}
    options.rounds = options.rounds or (1 if options.wall else 2 if options.quick else 3)
    return options


def interpreter(options: argparse.Namespace, names: list[str]) -> str:
    if options.python or all(needs_nothing(name) for name in names):
        return str(options.python or sys.executable)
    from peers import peer_python

    return str(peer_python("overhead", REQUIREMENTS))


def needs_nothing(arm: str) -> bool:
    return arm.split(" ")[0] in (*ALONE, "again")


def inside_steps(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Where it is asked for, or in a full run."""
    if "inside" not in options.only.split(",") and (options.only or options.quick or options.wall):
        return {}
    from overhead_arms.inside import inside

    os.environ["PYTHONPATH"] = str(options.source / "src")
    return inside(1 if options.quick else 6, peers=not options.quick)


def main() -> None:
    options = parse()
    if options.show:
        print(report(*load(options.show), options.wall))
        return
    names = options.arms.split(",") if options.arms else list(ALONE if options.quick or options.wall else DEFAULT)
    setup = Setup(interpreter(options, names), options.source, options.device, options.tiny)
    subprocess.run([setup.python, "-m", "compileall", "-q", options.source / "src"], check=False)
    runs: dict[str, dict[str, list[Run]]] = {}
    for plan in chosen_plans(options):
        here = names if plan.peers else [name for name in names if needs_nothing(name)]
        runs[plan.name] = measure(plan, here, setup, options)
        save(options.json, runs, {})  # what is measured is kept, should a later training fail
    inside = inside_steps(options)
    save(options.json, runs, inside)
    print("\n" + report({work: compared(arms) for work, arms in runs.items()}, inside, options.wall))


def save(file: Path | None, runs: dict[str, dict[str, list[Run]]], inside: dict[str, Any]) -> None:
    if file is not None:
        works = {
            w: {arm: [dataclasses.asdict(run) for run in rounds] for arm, rounds in a.items()} for w, a in runs.items()
        }
        file.write_text(json.dumps({"works": works, "inside": inside}))


def load(files: list[Path]) -> tuple[Works, dict[str, dict[str, Any]]]:
    """What several runs of the bench wrote; of a training that is in two of them, the later file's."""
    works: Works = {}
    inside: dict[str, dict[str, Any]] = {}
    for file in files:
        kept = json.loads(file.read_text())
        inside.update(kept["inside"])
        for work, arms in kept["works"].items():
            works[work] = compared({arm: [Run(**run) for run in rounds] for arm, rounds in arms.items()})
    return works, inside


if __name__ == "__main__":
    main()
