"""The hue assigned to each run, stored in the user's cache: a run keeps its color whatever is deleted later."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from pathlib import Path

from stepscope.files.opening import read_text
from stepscope.runs.catalogue.index import cache_folder

FILE = "hues.txt"
_LARGEST = 64 << 20
_LINE = re.compile(r"^([0-9A-Za-z_-]{1,64}) (\d{1,3})$", re.MULTILINE)


class HueBook:
    """One line per run, append-only; the first of a run counts. What cannot be written stays in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._hues: dict[str, int] | None = None
        self._lock = threading.Lock()

    def read(self) -> dict[str, int]:
        with self._lock:
            if self._hues is None:
                self._hues = self._from_disk()
            return self._hues

    def add(self, hues: Mapping[str, int]) -> None:
        """Store the hues of runs that have none yet."""
        known = self.read()
        with self._lock:
            new = {run: hue for run, hue in hues.items() if run not in known}
            known.update(new)
            if not new:
                return
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("a", encoding="ascii") as file:
                    file.write("".join(f"{run} {hue}\n" for run, hue in new.items() if run.isascii()))
            except OSError:
                pass  # a full or read-only cache only means that colors are not remembered

    def _from_disk(self) -> dict[str, int]:
        found: dict[str, int] = {}
        try:
            for run, hue in _LINE.findall(read_text(self._path, _LARGEST, within=self._path.parent)):
                found.setdefault(run, int(hue))
        except OSError:
            pass
        return found


_books: dict[Path, HueBook] = {}


def hue_book() -> HueBook:
    """The current user's file."""
    path = cache_folder() / FILE
    return _books.setdefault(path, HueBook(path))
