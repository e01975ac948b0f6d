"""A persistent log of sent notices, so that each is sent once and can be read later."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import read_file
from stepscope.runs.catalogue.index import cache_folder
from stepscope.runs.format.filesystem import make_private_folder
from stepscope.runs.format.layout import write_file
from stepscope.runs.format.sealed import seal_of, sealed
from stepscope.views.notice import Notice

MOST_KEPT = 500
MOST_TOLD = 5000
_LARGEST = 16 << 20


class Watched(msgspec.Struct):
    """A run's state at the last check."""

    status: str
    dropped: int
    told_until: float
    """The newest event of the run that was reported."""


class _File(msgspec.Struct):
    told: list[str] = []
    history: list[Notice] = []
    running: dict[str, Watched] = {}


# Created at import, not on first use: if two threads create one at the same time, msgspec (0.22) kills the process.
_file_decoder = msgspec.json.Decoder(_File)


class AlertLog:
    """Stores notices in memory and, if given, in a file. A lost or damaged file means that nothing was sent."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        kept = _read(path) if path is not None else None
        self.fresh = kept is None
        """First start: the current state is not news."""
        kept = kept or _File()
        self._told = dict.fromkeys(kept.told)
        self._history = kept.history
        self._saved = kept.running
        self.running: dict[str, Watched] = dict(kept.running)
        """Runs that were live at the last check; what happened to them since is news."""

    def new(self, notices: Iterable[Notice]) -> list[Notice]:
        """The notices that were not sent before; marks them as sent."""
        with self._lock:
            found = [notice for notice in notices if notice.id not in self._told]
            found = list({notice.id: notice for notice in found}.values())
            for notice in found:
                self._told[notice.id] = None
            for old in list(self._told)[:-MOST_TOLD]:
                del self._told[old]
            self._history = [*self._history, *found][-MOST_KEPT:]
            if found or self.running != self._saved:
                self._save()
            return found

    def knows(self, notice: str) -> bool:
        """Whether a notice with this id was sent."""
        with self._lock:
            return notice in self._told

    def history(self) -> Sequence[Notice]:
        """Latest first."""
        with self._lock:
            return list(reversed(self._history))

    def _save(self) -> None:
        self._saved = {run: Watched(**msgspec.structs.asdict(one)) for run, one in self.running.items()}
        if self._path is None:
            return
        data = sealed(msgspec.json.encode(_File(list(self._told), self._history, self._saved)))
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            make_private_folder(self._path.parent, exist_ok=True)
            write_file(self._path, data)
        except OSError:  # a full or read-only cache: keep them in memory only
            self._path = None


def alert_file(stores: Sequence[Path]) -> Path:
    """The file for a server of these stores."""
    names = "\n".join(sorted(str(store.resolve()) for store in stores))
    return cache_folder() / "alerts" / f"{hashlib.sha256(names.encode()).hexdigest()[:32]}.json"


def _read(path: Path) -> _File | None:
    try:
        data = read_file(path, _LARGEST, within=path.parent)
        return None if seal_of(data) == "damaged" else _file_decoder.decode(data)
    except (OSError, *MALFORMED):
        return None
