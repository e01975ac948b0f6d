"""What `make demo` runs: trains a few small VAEs, records them, and opens the dashboard on them.

    python examples/demo.py             # about half a minute of training, then the dashboard
    python examples/demo.py --no-ui     # only train
    python examples/demo.py --dir DIR   # record somewhere else than in ./stepscope-runs

Two seeds of a baseline, a few variations, one run that diverges and one that crashes: enough to sort, filter, compare
and debug. Then a slow training and what became of it are profiled (examples/slow_training), for the page *Profile*, and
a report on the runs is kept (demo_report.md), for the page *Reports*.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

try:
    import torch
    from digits_vae import Config, train
except ImportError as missing:
    sys.exit(f"the demo needs {missing.name}; run: pip install 'stepscope[demo]'")


class Plan(NamedTuple):
    """A run to make, and what to say about it."""

    name: str
    config: Config
    tags: list[str]
    notes: str = ""
    beta_at: Callable[[int], float] | None = None


def plans(epochs: int) -> list[Plan]:
    base = Config(epochs=epochs)
    stages = [0.0, 0.1, 0.2, 0.25]
    return [
        Plan("baseline", base, ["baseline"], "Adam, 16 latent dimensions."),
        Plan("baseline again", replace(base, seed=1), ["baseline"], "The same with another seed."),
        Plan("two dimensions", replace(base, latent=2), ["latent"], "Few enough to draw; too few to tell 5 from 9."),
        Plan("two dimensions again", replace(base, latent=2, seed=1), ["latent"]),
        Plan("strong KL", replace(base, beta=2.0), ["beta"], "The codes collapse: watch train/kl and the samples."),
        Plan("hardly any KL", replace(base, beta=0.02), ["beta"], "Sharp reconstructions, poor samples."),
        Plan("slow", replace(base, lr=3e-4), ["lr"]),
        Plan("momentum", replace(base, optimizer="sgd", lr=0.02), ["optimizer"]),
        Plan(
            "diverges", replace(base, optimizer="sgd", lr=0.05, decay=1000.0), ["optimizer", "broken"],
            "The decay is upside down: the learning rate grows a thousandfold.",
        ),
        Plan(
            "crashes", replace(base, lr=1e-3), ["beta", "broken"],
            "Warms the KL term up in five stages, from a list of four.",
            beta_at=lambda epoch: stages[epoch * 5 // epochs],
        ),
    ]  # fmt: skip


def make(plan: Plan, folder: Path) -> str:
    """Train and record one run; how it went, in words."""
    try:
        loss = train(plan.config, plan.beta_at, name=plan.name, tags=plan.tags, notes=plan.notes, dir=folder)
    except IndexError as error:
        return f"failed, as planned ({error})"
    return f"val/loss {loss:.2f}" if math.isfinite(loss) else f"diverged, as planned (val/loss {loss})"


SLOW = Path(__file__).parent / "slow_training"


def profile(name: str, script: str, folder: Path) -> str:
    """Profile a script as a user does, from the command line; its verdict."""
    command = [sys.executable, "-m", "stepscope", "profile", "--with-stack", "--profile-memory", "--dir", str(folder)]
    command += ["--project", "slow-training", "--name", name, script]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=SLOW, env=environment, capture_output=True, text=True)
    said = [line for line in done.stdout.splitlines() if "of each step" in line or "%" in line]
    return said[0].strip() if done.returncode == 0 and said else f"no profile: {done.stderr.strip()[-300:]}"


def report(folder: Path) -> str:
    """Keep the report on the runs beside them, where the page *Reports* finds it."""
    text = Path(__file__).with_name("demo_report.md")
    command = [sys.executable, "-m", "stepscope", "report", "--dir", str(folder)]
    kept = subprocess.run([*command, "--list"], capture_output=True, text=True)
    if "Which VAE draws digits best?" in kept.stdout:
        return "kept from the last time"
    done = subprocess.run([*command, "--save", str(text)], capture_output=True, text=True)
    return (done.stdout or done.stderr).strip().rpartition("\n")[2]


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a few small runs and open the dashboard on them.")
    parser.add_argument("--dir", type=Path, default=Path("stepscope-runs"), help="default: ./%(default)s")
    parser.add_argument("--port", type=int, help="port of the dashboard; default: 7007 or the next one free")
    parser.add_argument("--no-ui", action="store_true", help="only train")
    parser.add_argument("--quick", action="store_true", help="four of the runs, a few epochs each, for tests")
    options = parser.parse_args()

    torch.set_num_threads(1)  # the models are so small that a second thread only gets in the way
    todo = plans(epochs=100)
    if options.quick:
        todo = [plan for plan in plans(epochs=5) if plan.name in ("baseline", "momentum", "diverges", "crashes")]
    print(f"Training {len(todo)} small VAEs into {options.dir}:")
    for number, plan in enumerate(todo, 1):
        print(f"  {number:2} of {len(todo)}  {plan.name:22}", end="", flush=True)
        start = time.perf_counter()
        outcome = make(plan, options.dir)
        print(f"{outcome}, {time.perf_counter() - start:.1f} s", flush=True)
    for name, script in [("slow", "step0.py"), *([] if options.quick else [("made faster", "step5.py")])]:
        print(f"  profile  {name:22}", end="", flush=True)
        print(profile(name, script, options.dir.resolve()), flush=True)
    print(f"  report   {report(options.dir)}", flush=True)
    if options.no_ui:
        print(f"See them with: stepscope ui {options.dir}")
        return
    from stepscope.server.serve import serve

    serve([options.dir], port=options.port)


if __name__ == "__main__":
    main()
