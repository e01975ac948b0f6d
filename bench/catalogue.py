"""How fast a large store lists: 10,000 runs of 50 metrics, for the first time and again in a new process.

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
import sys, time
began = time.perf_counter()
from pathlib import Path
from stepscope.runs.catalogue.catalogue import Catalogue
imported = time.perf_counter()
used = time.process_time()
catalogue = Catalogue(Path(sys.argv[1]))
catalogue.refresh()
entries = catalogue.entries()
listed = time.perf_counter()
def timed(work):
    start = time.perf_counter()
    found = work()
    return (time.perf_counter() - start) * 1000, len(found)
print(f"import {1000 * (imported - began):.0f} ms, {len(entries)} runs listed in {1000 * (listed - imported):.0f} ms"
      f" (CPU {1000 * (time.process_time() - used):.0f} ms)")
for label, work in {
    "look again (nothing changed)": lambda: [catalogue.refresh()],
    "columns": catalogue.columns,
    "query config.lr < 0.05": lambda: catalogue.entries("config.lr < 0.05"),
    "query metric7.min < 0.1, first time": lambda: catalogue.entries("metric7.min < 0.1"),
    "query metric7.min < 0.2, again": lambda: catalogue.entries("metric7.min < 0.2"),
    "sort by metric9.last": lambda: catalogue.entries(sort="metric9.last"),
    "200 rows with 5 metrics each": lambda: [
        e.metrics.number(f"metric{i}", "min") for e in entries[:200] for i in range(5)
    ],
}.items():
    ms, count = timed(work)
    print(f"  {label:<40} {ms:7.1f} ms  ({count})")
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
