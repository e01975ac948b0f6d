"""Reads any torch trace into an event table."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Literal

from stepscope.profile.trace.build import events_of
from stepscope.profile.trace.events import Events

__all__ = ["read_trace"]


def read_trace(
    path: Path | str, *, scanner: Literal["auto", "compiled", "wheel"] = "auto", cache: bool = True
) -> Events:
    """The table of a trace file, plain or gzipped."""
    path = Path(path)
    raw = path.read_bytes()
    data = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    table = events_of(json.loads(data))
    return replace(table, header=replace(table.header, path=str(path), file_bytes=len(raw), json_bytes=len(data)))
