"""A hundred thousand names and a long run, written and read with little memory to spend (RELIABILITY 31)."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

NAMES = 100_000

LIMITED = """
import resource, sys, time
from pathlib import Path
import numpy
from stepscope.runs.read.folder import open_run
from stepscope.runs.write.writer import RunWriter
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.index import Index
path = Path(sys.argv[1])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = used + (int(sys.argv[2]) << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
"""


def limited(path: Path, spare_mib: int, code: str) -> list[str]:
    """Run `code` in a process that may use this much more memory than it needs to start."""
    if not Path("/proc/self/statm").exists() or not hasattr(resource, "RLIMIT_AS"):
        pytest.skip("needs /proc and RLIMIT_AS")
    command = [sys.executable, "-c", LIMITED + code, str(path), str(spare_mib)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture
def path(store: Path) -> Path:
    from .written import new_run

    return new_run(store)


def test_a_hundred_thousand_names_are_written_listed_and_summed_up(path: Path) -> None:
    write = f"""
writer = RunWriter(path, run_id=path.name, heartbeat_s=0, fsync_s=0, mode="direct")
for block in range(0, {NAMES}, 1000):
    writer.keyset(tuple(f"layer{{n}}/grad" for n in range(block, block + 1000))).write(0, [float(block)] * 1000)
writer.close()
"""
    limited(path, 160, write)
    read = """
run = open_run(path)
names = run.metrics()
catalogue = Catalogue(path.parent, index=Index(path.parent / "cache"))
(entry,) = catalogue.entries()
print(len(names), run.series("layer77777/grad").values[0], run.metric_summary("layer99999/grad").last,
      len(entry.metrics), entry.metrics["layer5/grad"].last)
"""
    assert limited(path, 300, read) == [str(NAMES), "77000.0", "99000.0", str(NAMES), "0.0"]


def test_a_long_run_is_read_in_less_memory_than_it_has_bytes(path: Path) -> None:
    """62 MB in segments of 4, of which a reader keeps one at a time."""
    write = """
import stepscope.runs.write.logfile as logfile
logfile.SEGMENT_BYTES = 4 << 20
writer = RunWriter(path, run_id=path.name, heartbeat_s=0, fsync_s=0, mode="direct")
row = writer.keyset(tuple(f"m{n}" for n in range(256)))
zeros = [0.0] * 255
for step in range(30_000):
    row.write(step, [step, *zeros])
writer.close()
"""
    limited(path, 64, write)
    assert sum(file.stat().st_size for file in path.glob("*.log")) > 62e6
    read = """
import stepscope.runs.read.runlogs as runlogs
runlogs._MOST_BYTES = 4 << 20
series = open_run(path).series("m0")
buckets = series.downsample(800)
print(len(series.values), series.values[-1], float(numpy.nanmax(buckets.high)))
"""
    assert limited(path, 50, read) == ["30000", "29999.0", "29999.0"]
