"""Stores for whole stories: a project where one change broke training, pictures, and what tries to do harm.

python make_store.py stories DIR        python make_store.py stories DIR 1    # the harmful one
python stories_store.py DIR             what it holds, as JSON
python stories_store.py DIR NAME        one more run, trained while nobody serves the store
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import compare_store
import inside_store
import make_store
import media_hostile_store
import media_store
import reports_store

import stepscope
from stepscope.report.store import save
from stepscope.report.text import cut


def stories(store: Path, harmful: int = 0) -> None:
    if harmful:
        make_store.hostile(store)
        media_hostile_store.media_hostile(store)
        inside_store.names(store)
        save([store], reports_store.HOSTILE, cut(reports_store.HOSTILE).title)
        return
    media_store.media(store)
    compare_store.compare(store)


def truth(store: Path) -> dict[str, Any]:
    """What the run folders hold, read without the server: the last value of each metric, the pictures by step."""
    told: dict[str, Any] = {}
    for run in stepscope.runs(store):
        pictures = [[media.step, media.sha256] for media in run.media("val/reconstruction")]
        last = {key: _finite(run.series(key)[-1].value) for key in run.metrics()}
        told[run.name] = {"id": run.id, "last": last, "pictures": pictures}
    return told


def _finite(value: float) -> float | None:
    """JSON has no NaN."""
    return value if math.isfinite(value) else None


if __name__ == "__main__":
    where, names = Path(sys.argv[1]), sys.argv[2:]
    for name in names:
        with stepscope.init("vae", name, dir=where, console=False, system=False, git=False) as made:
            made.log({"train/loss": 0.5})
    if not names:
        sys.stdout.write(json.dumps(truth(where)))
