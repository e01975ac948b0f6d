"""Traces of profilers in a run's folder: PyTorch's handler for TensorBoard puts them beside the event files, TensorFlow
and JAX below `plugins/profile`. Those that are JSON become profiles of the run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from stepscope.common.units import bytes_text
from stepscope.importers.foreign import Traces

SESSION = ("plugins", "profile")
_TRACE = re.compile(r"\.trace\.json(\.gz)?$")
_LARGEST = 256 << 20
_MOST = 20
"""A long training with a repeating schedule writes hundreds; only the newest are imported."""


def is_trace(name: str) -> bool:
    """
    >>> is_trace("host_17.1794781988962190000.pt.trace.json"), is_trace("host.trace.json.gz"), is_trace("a.json")
    (True, True, False)
    """
    return _TRACE.search(name) is not None


def traces(folder: Path, files: list[Path], state: dict[str, Any], troubles: list[str]) -> Iterator[Traces]:
    """The sessions that are new or changed since the last poll; only the newest if there are many."""
    known = dict(state.get("traces", {}))
    sessions: dict[Path, list[Path]] = {}
    for file in files:
        of_many = file.parent.parent.parts[-2:] == SESSION  # one session, one file per machine
        sessions.setdefault(file.parent if of_many else file, []).append(file)
    dated = sorted(sessions, key=lambda session: _stamp(sessions[session][0]))
    if len(dated) > _MOST and "skipped" not in known:
        known["skipped"] = True
        troubles.append(f"{folder}: {len(dated):,} traces; only the newest {_MOST} are imported")
    for session in dated[-_MOST:]:
        name = session.relative_to(folder).as_posix()
        mark = [[_size(file), round(_stamp(file), 3)] for file in sessions[session]]
        if known.get(name) == mark:
            continue
        known[name] = mark
        if sum(size for size, _ in mark) > _LARGEST:
            troubles.append(f"{session}: larger than {bytes_text(_LARGEST)}; open it with stepscope profile --open")
            continue
        yield Traces(_id_of(name), sessions[session], _stamp(sessions[session][0]))
    state["traces"] = known


def _id_of(name: str) -> str:
    """A folder name for a session: readable and unique."""
    last = _TRACE.sub("", name.rpartition("/")[2]).removesuffix(".pt")
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '-', last)[:40].strip('-') or 'trace'}-{sha256(name.encode()).hexdigest()[:8]}"


def _stamp(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
