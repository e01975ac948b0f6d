"""Ten ended runs and a live one: `make FOLDER`, then `play FOLDER SPEED [METRICS]`, which logs SPEED rows a second."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

sys.path = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).parent.resolve()]
sys.path.insert(0, str(Path(__file__).parent.parent))

from stepscope.records import RunMeta  # noqa: E402
from stepscope.runs.format.ids import new_run_id  # noqa: E402
from stepscope.runs.format.layout import create_run  # noqa: E402
from stepscope.runs.write.writer import RunWriter  # noqa: E402
from ui_stores import stepscope as ours  # noqa: E402
from ui_stores.cases import Case, value  # noqa: E402

CASE = Case("live", 10, 20, 1_000, "ten ended runs")


def make(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    ours.make(folder, CASE)


def play(folder: Path, speed: float, metrics: int = CASE.metrics) -> None:
    meta = RunMeta(id=new_run_id(), project="bench", name="goes on", created=time.time())
    writer = RunWriter(create_run(folder, meta), run_id=meta.id)
    row = writer.keyset(tuple(CASE.metric(at) for at in range(metrics)))
    step = 0
    while True:
        row.write(step, tuple(value(99, at, step, 3600) for at in range(metrics)))
        step += 1
        time.sleep(1 / speed)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]))
    else:
        play(Path(sys.argv[2]), float(sys.argv[3]), *map(int, sys.argv[4:]))
