"""What an importer returns: runs of another tool, as pieces in Stepscope's terms.

An importer is one module (or package) in this folder with a `find(path)`. It reads files only, never the network, and
imports the other tool only if its files cannot be read without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from stepscope.records import Artifact, Console, Event, Media


@dataclass(frozen=True)
class Columns:
    """Points of one series, in logging order; steps and unix times are the source's."""

    name: str
    steps: npt.NDArray[np.int64]
    times: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]


@dataclass(frozen=True)
class WideRow:
    """Values that do not fit a float64, at one step."""

    step: int
    time: float
    values: dict[str, Any]


@dataclass(frozen=True)
class Thing:
    """An image, a text, a file ... with its bytes, or its file (if too large for memory)."""

    media: Media
    data: bytes | None = None
    file: Path | None = None
    within: Path | None = None
    """The folder that the file must not leave through a link."""


@dataclass(frozen=True)
class Bundle:
    """An artifact, and its files to copy, by SHA-256."""

    artifact: Artifact
    files: dict[str, Path]
    within: Path | None = None
    """The folder that the files must not leave through a link."""


@dataclass(frozen=True)
class Traces:
    """One profiler session, as a profile of the run; several files are its ranks."""

    id: str
    files: list[Path]
    time: float


@dataclass(frozen=True)
class Restart:
    """The training went back to `step` and continues from there: what follows is another attempt of the run."""

    step: int
    time: float


Piece = Columns | WideRow | Thing | Bundle | Traces | Restart | Event | Console
"""An `End` among the events gives how and when the run ended; without one it ends with its last piece."""


@dataclass
class ForeignRun:
    """One run of the source. Read once; its description goes into `meta.json`, its events come as pieces."""

    key: str
    """Identifies the run within its source permanently, so that a later import finds the same run."""
    name: str
    project: str
    created: float
    config: dict[str, Any] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    notes: str = ""
    group: str | None = None
    more: dict[str, Any] = field(default_factory=dict)
    """Other fields of `RunMeta`: host, user, command, python, packages, git ..."""


class Source(Protocol):
    """A folder (or file) of another tool's runs."""

    kind: str
    """tensorboard, wandb, mlflow, trackio, aim"""
    path: Path

    def runs(self) -> Iterable[ForeignRun]:
        """The current runs. Cheap: called at each poll of a growing folder."""

    def read(self, run: ForeignRun, cursor: Any) -> Iterator[Piece]:
        """What is new in a run since `cursor` (None: everything). Bad records are skipped and listed in `troubles`."""

    def cursor(self, run: ForeignRun) -> Any:
        """Where the last `read` of this run stopped, as plain JSON; stored with the run for the next import."""

    def troubles(self) -> list[str]:
        """What could not be read since the last call, one line each, with its file."""
