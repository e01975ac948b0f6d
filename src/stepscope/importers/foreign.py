"""What an importer gives: runs of another tool, as pieces in our own words.

An importer is one module (or package) in this folder with a `find(path)`. It reads files only, never the network, and
imports the other tool only where its files cannot be read without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from stepscope.records import Artifact, Console, Event, Media

__all__ = ["Bundle", "Columns", "ForeignRun", "Piece", "Restart", "Source", "Thing", "Traces", "WideRow"]


@dataclass(frozen=True)
class Columns:
    """Points of one series, in the order they were logged; steps and unix times are as the source has them."""

    name: str
    steps: npt.NDArray[np.int64]
    times: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]


@dataclass(frozen=True)
class WideRow:
    """Values a float64 cannot hold, at one step."""

    step: int
    time: float
    values: dict[str, Any]


@dataclass(frozen=True)
class Thing:
    """An image, a text, a file ... with its bytes, or the file that holds them (for what is too large for memory)."""

    media: Media
    data: bytes | None = None
    file: Path | None = None
    within: Path | None = None
    """The folder that the file must not leave through a link."""


@dataclass(frozen=True)
class Bundle:
    """An artifact, and those of its files that are to be copied, by their SHA-256."""

    artifact: Artifact
    files: dict[str, Path]
    within: Path | None = None
    """The folder that the files must not leave through a link."""


@dataclass(frozen=True)
class Traces:
    """What a profiler wrote in one session, as a profile of the run; several files are its ranks."""

    id: str
    files: list[Path]
    time: float


@dataclass(frozen=True)
class Restart:
    """The training went back to `step` and goes on from there: what follows is another attempt of the run."""

    step: int
    time: float


Piece = Columns | WideRow | Thing | Bundle | Traces | Restart | Event | Console
"""An `End` among the events says how and when the run ended; without one it ends with its last piece."""


@dataclass
class ForeignRun:
    """One run of the source. Read once; what it is goes into `meta.json`, what happened comes as pieces."""

    key: str
    """Names the run within its source for good: a later import finds the same run again by it."""
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
        """The runs that are there now. Cheap: called again at each look at a growing folder."""

    def read(self, run: ForeignRun, cursor: Any) -> Iterator[Piece]:
        """What is new in a run since `cursor` (None: everything). Bad records are skipped and told in `troubles`."""

    def cursor(self, run: ForeignRun) -> Any:
        """Where the last `read` of this run stopped, as plain JSON; kept with the run for the next import."""

    def troubles(self) -> list[str]:
        """What could not be read since the last call, one line each, with its file."""
