"""What runs logged and used, cached per run until it changes: for lineage, lookups by name, and retention."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from pathlib import Path

from stepscope.errors import StepscopeError
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.lineage import RunArtifacts, artifacts_of
from stepscope.runs.read.folder import open_run

_KEPT = 100_000
_lock = threading.Lock()
_known: OrderedDict[Path, tuple[int, RunArtifacts]] = OrderedDict()


def artifacts_in(entries: Iterable[RunEntry], project: str) -> list[RunArtifacts]:
    """The links of all runs of a project; raises if one cannot be read, because its uses are then unknown."""
    return [_read(entry) for entry in entries if entry.project == project]


def read_until(entries: Iterable[RunEntry], deadline: float) -> Iterator[tuple[RunEntry, RunArtifacts | None]]:
    """Each run with what it logged and used; None if it cannot be read or time ran out."""
    for entry in entries:
        try:
            yield entry, _read(entry) if time.monotonic() < deadline or _is_known(entry) else None
        except StepscopeError:
            yield entry, None


def _is_known(entry: RunEntry) -> bool:
    with _lock:
        known = _known.get(entry.path)
    return known is not None and known[0] == entry.version


def _read(entry: RunEntry) -> RunArtifacts:
    with _lock:
        known = _known.get(entry.path)
    if known is None or known[0] != entry.version:
        try:
            known = (entry.version, artifacts_of(open_run(entry.path)))
        except (StepscopeError, OSError) as fault:
            raise StepscopeError(
                f"run {entry.id} cannot be read, so the artifacts it uses are unknown: {fault}"
            ) from fault
        with _lock:
            _known[entry.path] = known
            while len(_known) > _KEPT:
                _known.popitem(last=False)
    return known[1]
