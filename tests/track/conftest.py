"""What the tests of the logging API share: a store to log to, and a plain reader of what was written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepscope.records import Console, Event, FileHeader, Media
from stepscope.runs.format.layout import log_files, run_folders
from stepscope.runs.format.meta import read_meta
from stepscope.runs.read.logs import LogReader


class Recorded:
    """Everything in a run folder, read frame by frame, without the layers above."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.meta = read_meta(path)
        self.headers: list[FileHeader] = []
        self.rows: list[tuple[str, int, float, float | int]] = []
        self.events: list[Event] = []
        self.media: list[Media] = []
        self.console: list[Console] = []
        for file in log_files(path):
            reader = LogReader(file)
            for batch in reader.poll(final=True):
                self._take(batch)
            assert reader.unreadable == 0
            assert reader.unknown == 0
            assert reader.missing == 0
        self.media.sort(key=lambda media: (media.step, media.index))

    def _take(self, batch: Any) -> None:
        self.headers.append(batch.header)
        self.events.extend(event for _seq, event in batch.events)
        self.media.extend(media for _seq, media in batch.media)
        self.console.extend(piece for _seq, piece in batch.console)
        found = []
        for rows in batch.rows:
            for at, seq in enumerate(rows.seqs):
                for column, name in enumerate(rows.names):
                    value = rows.exact.get((at, column), float(rows.values[at, column]))
                    found.append((int(seq), (name, int(rows.steps[at]), float(rows.times[at]), value)))
        self.rows.extend(row for _seq, row in sorted(found, key=lambda each: each[0]))

    def points(self, name: str) -> list[tuple[int, float | int]]:
        """(step, value) of one series, in the order it was logged."""
        return [(step, value) for each, step, _time, value in self.rows if each == name]

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for name, _step, _time, _value in self.rows if not name.startswith("system/")))

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def text(self, stream: str = "stdout") -> str:
        return "".join(piece.text for piece in self.console if piece.stream == stream)


@pytest.fixture
def recorded() -> Callable[[Path], Recorded]:
    return Recorded


@pytest.fixture
def run_script(tmp_path: Path) -> Callable[..., tuple[subprocess.CompletedProcess[str], list[Recorded]]]:
    """Run a training script in a process of its own; its outcome, and the runs it left."""

    def run(code: str, *arguments: str, **variables: str) -> tuple[subprocess.CompletedProcess[str], list[Recorded]]:
        script = tmp_path / "train.py"
        script.write_text(code)
        store = tmp_path / "script-runs"
        environment = {**os.environ, "STEPSCOPE_DIR": str(store), "OMP_NUM_THREADS": "1", **variables}
        done = subprocess.run(
            [sys.executable, str(script), *arguments],
            capture_output=True,
            text=True,
            env=environment,
            timeout=300,
            cwd=tmp_path,
        )
        return done, [Recorded(path) for path in run_folders(store)]

    return run
