"""A copy of what surrounds a script: its folder and the working directory, so that nothing of the user's is touched.

Folders are real, small files are copied, large ones (data) are links; runs, environments and caches stay behind.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stepscope.errors import StorageError

_LEFT_OUT = {
    ".git",
    ".hg",
    ".venv",
    "venv",
    "node_modules",
    "__pycache__",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
}
_MOST_BYTES_OF_A_FILE = 4 << 20
_MOST_BYTES = 512 << 20
_MOST_FILES = 20_000


class Workspace:
    """Where the copies are, and which file of the user's each of them is."""

    def __init__(self, folder: Path, roots: dict[Path, Path]) -> None:
        self.folder = folder
        self.roots = roots
        """The user's folders, and their copies."""

    def inside(self, path: str | os.PathLike[str]) -> str:
        """The copy of a path; itself where it was not copied."""
        return self._turned(path, self.roots)

    def outside(self, path: str | os.PathLike[str]) -> str:
        """The user's own path of a copy."""
        return self._turned(path, {copy: root for root, copy in self.roots.items()})

    @staticmethod
    def _turned(path: str | os.PathLike[str], roots: dict[Path, Path]) -> str:
        real = Path(os.path.abspath(path))
        for one, other in roots.items():
            if real == one or one in real.parents:
                return str(other / real.relative_to(one))
        return str(real)


@contextmanager
def copied(*folders: Path) -> Iterator[Workspace]:
    """Copies of these folders until the block ends; of one that lies in another only the outer."""
    real = sorted({Path(os.path.realpath(one)) for one in folders}, key=lambda one: len(one.parts))
    outer: list[Path] = []
    for one in real:
        if not any(known in one.parents for known in outer):
            outer.append(one)
    with tempfile.TemporaryDirectory(prefix="stepscope-fix-", ignore_cleanup_errors=True) as place:
        here = Path(os.path.realpath(place))
        roots = {one: here / f"{number}" / (one.name or "root") for number, one in enumerate(outer)}
        room = _Room()
        for one, copy in roots.items():
            _copy(one, copy, room)
        yield Workspace(here, roots)


class _Room:
    """How much may still be copied; the rest becomes links."""

    def __init__(self) -> None:
        self.bytes, self.files = _MOST_BYTES, _MOST_FILES

    def has(self, size: int) -> bool:
        self.files -= 1
        if size > _MOST_BYTES_OF_A_FILE or self.files < 0 or size > self.bytes:
            return False
        self.bytes -= size
        return True


def _copy(source: Path, target: Path, room: _Room) -> None:
    try:
        target.mkdir(parents=True)
        entries = sorted(os.scandir(source), key=lambda one: one.name)
    except OSError as fault:
        raise StorageError(f"{source} cannot be copied for the trial: {fault.strerror or fault}") from fault
    for entry in entries:
        place = target / entry.name
        try:
            if entry.is_symlink():
                os.symlink(os.path.realpath(entry.path), place)
            elif entry.is_dir():
                if entry.name in _LEFT_OUT or (Path(entry.path) / "pyvenv.cfg").exists() or _is_store(entry):
                    continue
                if room.files > 0:
                    _copy(Path(entry.path), place, room)
                else:
                    os.symlink(entry.path, place)
            elif entry.is_file():
                if entry.name.endswith(".py") or room.has(entry.stat().st_size):
                    shutil.copy2(entry.path, place)
                else:
                    os.symlink(entry.path, place)
        except OSError:  # a file that went away or may not be read: the script will say so if it needs it
            continue


def _is_store(entry: os.DirEntry[str]) -> bool:
    return entry.name == "stepscope-runs"
