"""One machine that logs to a team's server, for `bench/team.py peers`; run by the interpreter of the tool it uses.

    python bench/team_client.py TOOL ADDRESS STEPS

Logs STEPS steps of 20 metrics to one run, waits until the server has them all, and prints the points and CPU seconds.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

NAMES = tuple(f"metric/{at}" for at in range(20))


def mlflow(address: str, steps: int) -> None:
    from mlflow import MlflowClient
    from mlflow.entities import Metric

    client = MlflowClient(address)
    experiment = client.get_experiment_by_name("bench")
    where = experiment.experiment_id if experiment else client.create_experiment("bench")
    run = client.create_run(where).info.run_id
    batch: list[Metric] = []
    for step, values in rows(steps):
        now = int(1000 * time.time())
        batch += [Metric(name, value, now, step) for name, value in zip(NAMES, values, strict=True)]
        if len(batch) == 1000:  # the most that one call takes
            client.log_batch(run, metrics=batch)
            batch = []
    client.log_batch(run, metrics=batch)
    client.set_terminated(run)
    assert len(client.get_metric_history(run, NAMES[-1])) == steps


def aim(address: str, steps: int) -> None:
    from aim import Run

    run = Run(repo=address, system_tracking_interval=None, capture_terminal_logs=False)
    for step, values in rows(steps):
        run.track(dict(zip(NAMES, values, strict=True)), step=step)
    run.close()  # waits until everything was sent


def stepscope(address: str, steps: int) -> None:
    from stepscope.records import RunMeta
    from stepscope.runs.format.ids import new_run_id
    from stepscope.runs.format.layout import create_run
    from stepscope.runs.write.writer import RunWriter
    from stepscope.sync.push import push
    from stepscope.sync.remote import Remote

    with tempfile.TemporaryDirectory() as folder, Remote(address, os.environ["STEPSCOPE_TOKEN"]) as remote:
        about = RunMeta(id=new_run_id(), project="p", name="run", created=time.time())
        run = create_run(Path(folder), about)
        writer = RunWriter(run, run_id=about.id, heartbeat_s=0, fsync_s=0)
        row = writer.keyset(NAMES)
        for step, values in rows(steps):
            row.write(step, tuple(values))
        writer.close()
        assert not push([run], remote).problems


def rows(steps: int) -> list[tuple[int, list[float]]]:
    dice = random.Random(1)
    return [(step, [dice.random() for _ in NAMES]) for step in range(steps)]


def main() -> None:
    tool, address, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
    log = {"mlflow": mlflow, "aim": aim, "stepscope": stepscope}[tool]
    log(address, 50)  # imports and connections are not what is measured
    began, cpu = time.perf_counter(), time.process_time()
    log(address, steps)
    print(json.dumps({"wall_s": time.perf_counter() - began, "cpu_s": time.process_time() - cpu}))


if __name__ == "__main__":
    main()
