"""Which folders are runs. Mostly each folder with event files is one, as in TensorBoard.

Two of PyTorch's calls create folders that are not runs to the user: `add_scalars` one per line of its chart, and
`add_hparams` one for the hyperparameters. Below a folder with data, these belong to its run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from stepscope.eventfiles.reader import first_events, is_event_file
from stepscope.files.listing import is_inside
from stepscope.importers.tensorboard.traces import SESSION, is_trace
from stepscope.runs.format.ids import is_run_id

_MOST_FOLDERS = 20_000
_LOOKED_INTO = 2_000
"""Maximum number of folders searched for a first event file, so that naming a home folder by mistake ends soon."""


@dataclass(frozen=True)
class Part:
    """One event file of a run. `tag` is called `name` in the run if the folder represents a line of a chart."""

    path: Path
    key: str
    """Its path below the run's folder."""
    tag: str = ""
    name: str = ""


@dataclass
class LogFolder:
    """A run's folder, and the event files that belong to it, in TensorBoard's order."""

    key: str
    path: Path
    parts: list[Part] = field(default_factory=list)
    traces: list[Path] = field(default_factory=list)
    """Profiler output there, or below in folders that are not runs."""


def has_event_files(path: Path) -> bool:
    """Whether there is an event file at `path` or not too far below."""
    if path.is_file():
        return is_event_file(path.name)
    for count, (_, _, files) in enumerate(_walk(path)):
        if any(map(is_event_file, files)):
            return True
        if count >= _LOOKED_INTO:
            return False
    return False


def find_folders(root: Path, peeked: dict[Path, Peek]) -> list[LogFolder]:
    """The runs below `root`. `peeked` caches the beginnings of files for the next poll."""
    if root.is_file():
        return [LogFolder(root.name, root.parent, [Part(root, root.name)])]
    runs: dict[Path, LogFolder] = {}
    traced: dict[Path, list[str]] = {}
    for count, (place, _, files) in enumerate(_walk(root)):
        folder = Path(place)
        mine = sorted(filter(is_event_file, files))
        if mine:
            parts = [Part(folder / file, file) for file in mine]
            runs[folder] = LogFolder(folder.relative_to(root).as_posix(), folder, parts)
        if any(map(is_trace, files)):
            traced[folder] = sorted(filter(is_trace, files))
        if count >= _MOST_FOLDERS:
            break
    _fold(runs, peeked)
    for folder, names in traced.items():
        owner = folder.parents[2] if folder.parent.parts[-2:] == SESSION else folder
        run = runs.get(owner) or runs.get(_above(owner, runs) or owner)
        if run is not None:
            run.traces += [folder / name for name in names]
    return [runs[folder] for folder in sorted(runs)]


def _walk(root: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Folders from the top, each once; Stepscope runs and hidden folders are skipped.

    Links to folders are followed below `root`, as in TensorBoard, but not beyond: a folder from someone else must
    not import other files on this disk.
    """
    seen: set[tuple[int, int]] = set()
    for folder, below, files in os.walk(root, followlinks=True):
        try:
            stat = os.stat(folder)
        except OSError:
            below.clear()
            continue
        if (stat.st_dev, stat.st_ino) in seen:
            below.clear()
            continue
        seen.add((stat.st_dev, stat.st_ino))
        below[:] = sorted(name for name in below if not name.startswith(".") and not is_run_id(name))
        links = [name for name in below if os.path.islink(os.path.join(folder, name))]
        for name in links:
            if not is_inside(Path(folder, name), root):
                below.remove(name)
        yield folder, below, [name for name in files if not os.path.islink(os.path.join(folder, name))]


@dataclass(frozen=True)
class Peek:
    """What the beginning of a folder's first event file contains."""

    size: int
    is_empty: bool
    """Nothing but the version."""
    tags: frozenset[str] = frozenset()
    hparams: bool = False


def _peek(folder: LogFolder, peeked: dict[Path, Peek]) -> Peek:
    path = folder.parts[0].path
    known = peeked.get(path)
    if known is not None and not known.is_empty:
        return known
    try:
        size = path.stat().st_size
        if known is not None and known.size == size:
            return known
        values = [value for event in first_events(path) for value in event.values]
    except OSError:
        return Peek(0, True)
    hparams = any(value.metadata is not None and value.metadata.plugin == "hparams" for value in values)
    peeked[path] = Peek(size, not values and size < 4096, frozenset(value.tag for value in values), hparams)
    return peeked[path]


def _fold(runs: dict[Path, LogFolder], peeked: dict[Path, Peek]) -> None:
    above = {folder: _above(folder, runs) for folder in runs}
    with_runs_below = {parent for parent in above.values() if parent is not None}
    has_hparams: set[Path] = set()
    for folder in sorted(runs):
        upper = above[folder]
        if upper is None:
            continue
        peek = _peek(runs[folder], peeked)
        rest = _line_of(folder.relative_to(upper).as_posix(), peek)
        if peek.is_empty and folder not in with_runs_below:
            del runs[folder]  # wait until its content is known
        elif upper not in runs:
            continue
        elif rest is not None:
            (tag,) = peek.tags
            _give(runs, folder, runs[upper], tag, f"{tag}/{rest}")
        elif peek.hparams and upper not in has_hparams and not _peek(runs[upper], peeked).is_empty:
            has_hparams.add(upper)
            _give(runs, folder, runs[upper], "", "")
    for folder in with_runs_below & runs.keys():
        if _is_shell(folder, runs, peeked):
            del runs[folder]


def _is_shell(folder: Path, runs: dict[Path, LogFolder], peeked: dict[Path, Peek]) -> bool:
    """Whether it is of a writer that was only opened to create others."""
    has_runs_below = any(other != folder and folder in other.parents for other in runs)
    return has_runs_below and len(runs[folder].parts) == 1 and _peek(runs[folder], peeked).is_empty


def _above(folder: Path, runs: dict[Path, LogFolder]) -> Path | None:
    return next((parent for parent in folder.parents if parent in runs), None)


def _line_of(below: str, peek: Peek) -> str | None:
    """Which line of `add_scalars` a folder is: PyTorch names it `tag_line`, tensorboardX `tag/line`."""
    if len(peek.tags) != 1:
        return None
    (tag,) = peek.tags
    for start in (tag.replace("/", "_") + "_", tag + "/"):
        if tag and below.startswith(start) and len(below) > len(start):
            return below[len(start) :]
    return None


def _give(runs: dict[Path, LogFolder], folder: Path, to: LogFolder, tag: str, name: str) -> None:
    below = folder.relative_to(to.path).as_posix()
    for part in runs.pop(folder).parts:
        to.parts.append(Part(part.path, f"{below}/{part.key}", tag, name))
