"""Logs that will not grow any more, remembered before they are compacted or moved away.

A client asks how much of each log is here. For a log that is now a part of a compacted file, the answer is in a small
file beside it; it was written before the log went.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from stepscope.errors import BadData
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import plain_size, read_file
from stepscope.runs.catalogue.change_detection import is_sealed
from stepscope.runs.format.layout import log_files, write_file
from stepscope.runs.format.sealed import seal_of, sealed

SETTLED = ".settled.json"
_LARGEST = 64 << 20
_KEPT = 256


class _Record(msgspec.Struct):
    logs: dict[str, int]


_decoder = msgspec.json.Decoder(_Record)


def settle(run: Path, *, gone: bool = False) -> dict[str, int]:
    """Remember the size of every log that has ended (with `gone`: of all). Comes before they are compacted."""
    known = _read(run)
    new = [path for path in log_files(run) if path.name not in known and (gone or is_sealed(path))]
    found = {path.name: plain_size(path) or 0 for path in new}
    if found:
        write_file(run / SETTLED, sealed(msgspec.json.encode(_Record({**known, **found}))))
    return {**known, **found}


def _read(run: Path) -> dict[str, int]:
    try:
        data = read_file(run / SETTLED, _LARGEST, within=run)
        if seal_of(data) != "sound":
            raise BadData(f"{run / SETTLED} does not match its checksum; remove it to have all logs sent again")
        return _decoder.decode(data).logs
    except FileNotFoundError:
        return {}
    except MALFORMED as fault:
        raise BadData(f"{run / SETTLED} cannot be read: {fault}") from None


class Settled:
    """Reads the records, each once until it changes."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[int, dict[str, int]]] = {}

    def logs(self, run: Path) -> dict[str, int]:
        try:
            stamp = os.lstat(run / SETTLED).st_mtime_ns
        except OSError:
            return {}
        known = self._known.get(run)
        if known is None or known[0] != stamp:
            known = (stamp, _read(run))
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[run] = known
        return known[1]
