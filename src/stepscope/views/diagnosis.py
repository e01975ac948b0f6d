"""What is wrong with a run, found while it ran or in its folder; computed once per state of the run."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from stepscope.diagnose.stored.engine import Diagnosis, diagnose_run
from stepscope.views.finding_counts import count_findings

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder

_EVERY_S = 10.0
"""A live run is diagnosed at most this often."""

_known: WeakKeyDictionary[RunFolder, tuple[int, float, Diagnosis]] = WeakKeyDictionary()
_lock = threading.Lock()


def diagnosis_of(folder: RunFolder) -> Diagnosis:
    """The current diagnosis of a run; for a live run, a few seconds old at most."""
    with _lock:
        version, when, found = _known.get(folder, (-1, 0.0, None))
    is_fresh = time.monotonic() - when < _EVERY_S and folder.status == "running"
    if found is None or (version != folder.version and not is_fresh):
        version, found = folder.version, diagnose_run(folder)
        with _lock:
            _known[folder] = (version, time.monotonic(), found)
        count_findings(folder.meta.id, found.findings)
    return found
