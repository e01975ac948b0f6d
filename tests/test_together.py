"""Several processes write to one store at once while a reader follows all of them: nothing lost, nothing seen twice."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from stepscope.runs.catalogue.catalogue import Catalogue

ROWS = 1500
WRITER = f"""
import sys, stepscope
store, name = sys.argv[1:]
with stepscope.init(project="together", name=name, dir=store, console=False, system=False) as run:
    for step in range({ROWS}):
        run.log({{"loss": step * 0.5, "twice": step * 2.0}}, step=step)
"""


def test_eight_writers_and_a_reader_that_follows_them_all(store: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(store), f"w{i}"]) for i in range(8)]
    seen: dict[str, int] = {}
    polls = 0
    with Catalogue(store) as catalogue:
        deadline = time.monotonic() + 300
        while any(writer.poll() is None for writer in writers) or sum(seen.values()) < 8 * ROWS:
            assert time.monotonic() < deadline, f"still waiting; seen {seen}"
            catalogue.refresh()
            for entry in catalogue.entries():
                run = catalogue.get(entry.id)
                run.refresh()
                if "loss" not in run.metrics():
                    continue
                series = run.series("loss")
                count = len(series)
                assert count >= seen.get(entry.name, 0), "points vanished"
                np.testing.assert_array_equal(series.steps, np.arange(count))
                np.testing.assert_array_equal(series.values, np.arange(count) * 0.5)
                seen[entry.name] = count
            polls += 1
        assert [writer.wait() for writer in writers] == [0] * 8
        assert seen == {f"w{i}": ROWS for i in range(8)}
        assert polls > 1
        catalogue.refresh()
        assert [entry.status for entry in catalogue.entries()] == ["finished"] * 8
        for entry in catalogue.entries():
            assert entry.metrics["twice"].count == ROWS
