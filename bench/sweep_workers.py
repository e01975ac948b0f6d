"""A sweep on PostgreSQL by several workers that are killed at random: are all results there, and none twice?

    python bench/sweep_workers.py                    # 200 trials, 4 workers, a kill every few seconds
    python bench/sweep_workers.py --trials 20 --workers 2

It makes a database cluster of its own with initdb, and needs Optuna and psycopg.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.postgres import Postgres

TRAIN = """
import stepscope
run = stepscope.init()
for step in range(5):
    run.log({"loss": (run.config["lr"] - 0.3) ** 2 + 0.1 * run.config["depth"] + 1 / (step + 1)}, step=step)
run.finish()
"""
SWEEP = """
name: killed
command: [{python}, {script}]
arguments: none
metric: {{name: loss, goal: min}}
runs: {trials}
heartbeat: 2s
parameters:
  lr: {{min: 0.0, max: 1.0}}
  depth: [1, 2, 3]
"""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--kill-every", type=float, default=8.0)
    parser.add_argument("--seconds", type=float, default=1500.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "train.py").write_text(TRAIN)
        text = SWEEP.format(python=sys.executable, script=folder / "train.py", trials=given.trials)
        (folder / "sweep.yaml").write_text(text)
        database = Postgres()
        try:
            return run(folder, str(database.new_database()), given)
        finally:
            database.close()


def run(folder: Path, url: str, given: argparse.Namespace) -> int:
    command = [sys.executable, "-m", "stepscope", "sweep", str(folder / "sweep.yaml"), "--storage", url]
    command += ["--dir", str(folder / "runs")]

    def start() -> subprocess.Popen[bytes]:
        log = (folder / "workers.log").open("ab")
        return subprocess.Popen([*command, "--worker"], stdout=log, stderr=log)

    def standing() -> dict:
        asked = subprocess.run([*command, "--status", "--json"], capture_output=True, text=True, check=True)
        return json.loads(asked.stdout)

    began, kills, chance = time.monotonic(), 0, random.Random(0)
    standing()  # makes the study
    working = [start() for _ in range(given.workers)]
    next_kill = time.monotonic() + given.kill_every
    while any(one.poll() is None for one in working) and time.monotonic() - began < given.seconds:
        time.sleep(0.5)
        alive = [at for at, one in enumerate(working) if one.poll() is None]
        if time.monotonic() > next_kill and alive:
            next_kill = time.monotonic() + given.kill_every
            at = chance.choice(alive)
            os.kill(working[at].pid, signal.SIGKILL)
            working[at].wait()
            working[at] = start()
            kills += 1
    for one in working:
        if one.poll() is None:
            one.terminate()
            one.wait()
    found = standing()
    states = Counter(one["state"] for one in found["trials"])
    settings = Counter(
        json.dumps(one["params"], sort_keys=True) for one in found["trials"] if one["state"] == "complete"
    )
    twice = sum(count > 1 for count in settings.values())
    seconds = time.monotonic() - began
    print(f"{given.workers} workers, {kills} killed, {seconds:.0f} s: {found['results']} of {given.trials} results")
    crashed = sum(one.poll() not in (0, None, -signal.SIGTERM) for one in working)
    print(f"by state: {dict(states)}; settings with two results: {twice}; workers that failed by themselves: {crashed}")
    if states["complete"] != given.trials or twice or crashed:
        print((folder / "workers.log").read_text()[-3000:])
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
