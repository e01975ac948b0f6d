"""What people were told about their runs: kept over restarts, so that each thing is told once and can be read later."""

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

__all__ = ["AlertLog", "Watched", "alert_file"]

MOST_KEPT = 500
MOST_TOLD = 5000
_LARGEST = 16 << 20


class Watched(msgspec.Struct):
    """How a run was when we last looked at it."""

    status: str
    dropped: int
    told_until: float
    """The newest event of the run that was told."""


class _File(msgspec.Struct):
    told: list[str] = []
    history: list[Notice] = []
    running: dict[str, Watched] = {}


# Made here and not on first use, which two threads could make at once: msgspec (0.22) then ends the process.
_file_decoder = msgspec.json.Decoder(_File)


class AlertLog:
    """Remembers in memory, and in a file where there is one. A file that is lost or damaged means: nothing was told."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        kept = _read(path) if path is not None else None
        self.fresh = kept is None
        """Nothing is known of earlier times: what is so now is no news."""
        kept = kept or _File()
        self._told = dict.fromkeys(kept.told)
        self._history = kept.history
        self._saved = kept.running
        self.running: dict[str, Watched] = dict(kept.running)
        """Runs that went on when we last looked; what became of them since is news."""

    def new(self, notices: Iterable[Notice]) -> list[Notice]:
        """Those that were not told before; from now on they were."""
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
        """Whether a notice of this id was told."""
        with self._lock:
            return notice in self._told

    def history(self) -> Sequence[Notice]:
        """The latest first."""
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
        except OSError:  # a full or read-only cache: we remember as long as we run
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
