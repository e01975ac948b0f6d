"""The column file beside a trace, so that it opens at once the second time.

`trace.json.gz.stepscope`; where the folder cannot be written to, in the user's cache folder. It holds the size and the
time of the trace it was made from: a trace that has changed since is read again. A cache that is damaged or cannot be
written is not an error: the trace is there.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from stepscope.errors import BadData, NotFound
from stepscope.profile.trace.columns import COLUMNS_FORMAT, load_kept_events, save_events
from stepscope.profile.trace.events import Events

SUFFIX = ".stepscope"
_READER = 1
"""Raised when the same trace would give another table."""
_WORTH = 2 << 20
"""Bytes of JSON; a smaller trace is read as fast as its cache."""


class Cache:
    """The column file of one trace."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace
        self.beside = trace.with_name(trace.name + SUFFIX)
        self.key = self._key()

    def _key(self) -> str:
        try:
            found = self.trace.stat()
        except OSError:
            return ""
        return f"{COLUMNS_FORMAT}.{_READER}:{found.st_size}:{found.st_mtime_ns}"

    @property
    def elsewhere(self) -> Path:
        """In the user's cache folder, by the trace's full path."""
        from stepscope.runs.catalogue.index import cache_folder

        name = hashlib.sha256(str(self.trace.absolute()).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return cache_folder() / "traces" / f"{name}{SUFFIX}"

    def load(self) -> Events | None:
        """The table, if it was kept and the trace is still the one it was made from."""
        if not self.key:
            return None
        for path in (self.beside, self.elsewhere):
            with suppress(BadData, NotFound, OSError):
                found = load_kept_events(path, self.key)
                if found is not None:
                    return replace(found, header=replace(found.header, path=str(self.trace)))
        return None

    def save(self, events: Events) -> None:
        """Keep a table; not of a trace that changed while it was read."""
        if events.header.json_bytes < _WORTH or not self.key or self._key() != self.key:
            return
        for path in (self.beside, self.elsewhere):
            with suppress(OSError):
                if path is not self.beside:
                    path.parent.mkdir(parents=True, exist_ok=True)
                save_events(events, path, key=self.key)
                return
