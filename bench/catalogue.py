"""How fast a large store lists, and answers the Runs page: 10,000 runs of 50 metrics, cold and again in a new process.

    python bench/catalogue.py [--runs 10000] [--metrics 50] [--rows 20] [--keep DIR]

Each listing is measured in a process of its own, so that nothing is warm but the operating system's page cache.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MEASURE = """
import gc, sys, time
began = time.perf_counter()
from pathlib import Path
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.server.answers import json_response
from stepscope.server.serve import _COLLECT
from stepscope.views.context import Context
from stepscope.views.live import Hub
from stepscope.views.open_runs import OpenRuns
from stepscope.views.runs import ColumnsRequest, RunsRequest, columns, runs
from stepscope.views.series import LineCache
imported = time.perf_counter()
used = time.process_time()
gc.set_threshold(*_COLLECT)  # as in the server
catalogue = Catalogue(Path(sys.argv[1]))
catalogue.refresh()
entries = catalogue.entries()
listed = time.perf_counter()
context = Context(catalogue=catalogue, runs=OpenRuns(catalogue), lines=LineCache(), hub=Hub())
def page(**asked):
    answer = runs(context, RunsRequest(columns=["config.lr", "loss.last", "loss.min"], **asked))
    return json_response(answer, "gzip").body
print(f"import {1000 * (imported - began):.0f} ms, {len(entries)} runs listed in {1000 * (listed - imported):.0f} ms"
      f" (CPU {1000 * (time.process_time() - used):.0f} ms)")
for label, work in {
    "look again (nothing changed)": lambda: [catalogue.refresh()],
    "columns": lambda: columns(context, ColumnsRequest()).columns,
    "first page of the table": page,
    "the next page": lambda: page(offset=200),
    "query config.lr < 0.05": lambda: page(query="config.lr < 0.05"),
    "query metric1.min < 0.1, first time": lambda: page(query="metric1.min < 0.1"),
    "query metric1.min < 0.2, again": lambda: page(query="metric1.min < 0.2"),
    "sort by name": lambda: page(sort="name"),
    "sort by config.lr": lambda: page(sort="config.lr"),
    "sort by metric2.last, first time": lambda: page(sort="metric2.last"),
    "sort by metric2.last, the other way": lambda: page(sort="metric2.last", descending=False),
}.items():
    start, cpu = time.perf_counter(), time.process_time()
    found = work()
    ms, cpu_ms = (1000 * (time.perf_counter() - start), 1000 * (time.process_time() - cpu))
    print(f"  {label:<40} {ms:7.1f} ms  (CPU {cpu_ms:.1f} ms; {len(found)})")
import resource
print(f"  {'peak memory':<40} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:7.0f} MiB")
"""


def make_store(store: Path, runs: int, metrics: int, rows: int) -> None:
    """Believable ended runs, written by the real writer."""
    from stepscope.records import End, RunMeta
    from stepscope.runs.format.ids import new_run_id
    from stepscope.runs.format.layout import create_run
    from stepscope.runs.write.writer import RunWriter

    chance = random.Random(1)
    names = ("loss", *(f"metric{at}" for at in range(metrics - 1)))
    for number in range(runs):
        created = 1_790_000_000.0 + 60 * number
        config = {"lr": 10 ** chance.uniform(-4, 0), "seed": number, "model/depth": chance.choice([2, 4, 8])}
        config |= {f"option{at}": chance.choice(["a", "b", True, 0.5]) for at in range(12)}
        meta = RunMeta(
            id=new_run_id(created), project=f"project{number % 5}", name=f"run-{number}", created=created, config=config
        )
        writer = RunWriter(create_run(store, meta), run_id=meta.id, heartbeat_s=0, fsync_s=0)
        row = writer.keyset(names)
        for step in range(rows):
            row.write(step, [chance.random() for _ in names])
        writer.close(End(time=time.time(), status="finished"))
        if number % 500 == 499:
            print(f"  made {number + 1} runs", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--metrics", type=int, default=50)
    parser.add_argument("--rows", type=int, default=20, help="how often each run logs its metrics")
    parser.add_argument("--keep", type=Path, help="keep (or use) the store and its index here")
    options = parser.parse_args()
    base = options.keep or Path(tempfile.mkdtemp(prefix="stepscope-bench-"))
    store = base / "runs"
    try:
        if not store.exists():
            store.mkdir(parents=True)
            began = time.perf_counter()
            make_store(store, options.runs, options.metrics, options.rows)
            print(f"made {options.runs} runs in {time.perf_counter() - began:.0f} s")
        time.sleep(2.5)  # younger folders are looked into again, as they may still change
        shutil.rmtree(base / "cache", ignore_errors=True)
        for label in ("first time", "second time", "third time"):
            print(f"{label}: ", end="", flush=True)
            environment = {**os.environ, "STEPSCOPE_CACHE": str(base / "cache")}
            subprocess.run([sys.executable, "-c", MEASURE, str(store)], env=environment, check=True)
        size = sum(file.stat().st_size for file in (base / "cache").iterdir())
        print(f"index {size / 1e6:.0f} MB")
    finally:
        if options.keep is None:
            shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
