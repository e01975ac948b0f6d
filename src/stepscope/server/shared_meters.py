"""`/metrics` of several processes behind one address.

Prometheus gets an answer from any of them, and would take the counters of different processes for one that jumps. So
each writes its numbers to a file every few seconds, and whoever is asked answers with those of all, labeled.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.fence import fenced
from stepscope.files.opening import read_text
from stepscope.server.monitor import Meters

if TYPE_CHECKING:
    from prometheus_client import Metric

EVERY_S = 2.0
_LARGEST = 4 << 20
_UNFINISHED = ".new"


class SharedMeters:
    """The numbers of this process and of those beside it; `start` and `stop` bracket the thread that writes ours."""

    def __init__(self, meters: Meters, file: Path) -> None:
        """The name of `file` is the label `worker`; the others have theirs in the same folder."""
        self._meters, self._file = meters, file
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._stopping.clear()
        self._thread = threading.Thread(target=self._run, name="stepscope-meters", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(1.0)
            self._thread = None

    def _run(self) -> None:
        turn = fenced("writing this process's numbers")(self.write)
        turn()
        while not self._stopping.wait(EVERY_S):
            turn()

    def write(self) -> None:
        fresh = self._file.with_suffix(f".{threading.get_ident()}{_UNFINISHED}")
        fresh.write_bytes(self._meters.text())
        os.replace(fresh, self._file)

    def text(self) -> bytes:
        from prometheus_client import generate_latest

        self.write()
        return generate_latest(_Collected(self._families()))

    def _families(self) -> list[Metric]:
        from prometheus_client.parser import text_string_to_metric_families

        found: dict[str, Metric] = {}
        for place in sorted(self._file.parent.iterdir()):
            if place.suffix == _UNFINISHED:
                continue
            for family in text_string_to_metric_families(read_text(place, _LARGEST, within=place.parent)):
                family.samples = [one._replace(labels={**one.labels, "worker": place.name}) for one in family.samples]
                if family.name in found:
                    found[family.name].samples += family.samples
                else:
                    found[family.name] = family
        return list(found.values())


class _Collected:
    """What `generate_latest` takes for a registry."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        return iter(self._families)
