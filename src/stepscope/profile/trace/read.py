"""Reads any torch trace into an event table: plain or gzipped, cut off, with broken names, of any device.

    events = read_trace("trace.json.gz")
    tables = read_ranks(["rank0.json", "rank1.json"])      # or a folder of traces

A trace is scanned in pieces by the compiled scanner where it was built, else by msgspec; both make the same table. It
is then kept as columns beside the trace (`trace.json.gz.stepscope`), so that it opens at once the second time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Literal

from stepscope.errors import BadData, NotFound, UsageError
from stepscope.profile.trace.cache import Cache
from stepscope.profile.trace.events import Events
from stepscope.profile.trace.library import library
from stepscope.profile.trace.rank_of import rank_in_fields, ranks_of_names
from stepscope.profile.trace.reading import Reading
from stepscope.profile.trace.scan_compiled import CompiledScanner
from stepscope.profile.trace.scanning import Scanner
from stepscope.profile.trace.source import LARGEST, Source

Which = Literal["auto", "compiled", "wheel"]


def read_trace(path: Path | str, *, scanner: Which = "auto", cache: bool = True, largest: int | None = None) -> Events:
    """The table of a trace file.

    `scanner`: "compiled" or "wheel" (msgspec) insist on one; "auto" takes the compiled one where it is built. `cache`:
    use and write the column file beside the trace. `largest`: bytes of JSON that are read at most.
    """
    path = Path(path)
    kept = Cache(path) if cache else None
    found = kept.load() if kept is not None else None
    if found is not None:
        return found
    with Source(path, largest or _largest_allowed()) as source:
        reading = Reading(source, _scanner(scanner))
        reading.run()
        events = reading.table()
    if kept is not None:
        kept.save(events)
    return events


def _scanner(which: Which) -> Scanner:
    if which == "compiled" or (which == "auto" and library() is not None):
        return CompiledScanner()
    if which not in {"auto", "wheel"}:
        raise UsageError(f"there is no scanner {which!r}; there are auto, compiled and wheel")
    from stepscope.profile.trace.scan_wheel import WheelScanner

    return WheelScanner()


def _largest_allowed() -> int:
    said = os.environ.get("STEPSCOPE_LARGEST_TRACE", "").strip().upper()
    if not said:
        return LARGEST
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(said[-1:], 1)
    digits = said.rstrip("KMG")
    if not digits.isdecimal():
        raise UsageError(f"STEPSCOPE_LARGEST_TRACE={said!r} is not a valid size; use for example 4000M or 40G")
    return int(digits) * unit


def read_ranks(
    paths: Path | str | Iterable[Path | str], *, scanner: Which = "auto", cache: bool = True
) -> dict[int, Events]:
    """The tables of several traces, or of all in a folder, by rank.

    The rank is what the trace says (distributedInfo), else what the file is called (rank3.json, trace_3.json), else
    its place in the order. Of two traces of one rank the later one counts, and says so in its header's notes.
    """
    files = [file for path in ([paths] if isinstance(paths, Path | str) else paths) for file in traces_in(Path(path))]
    if not files:
        raise NotFound("no trace was given; give .json or .json.gz files of torch.profiler, or a folder of them")
    named = ranks_of_names([file.name for file in files])
    found: dict[int, Events] = {}
    unnamed: list[Events] = []
    for file, by_name in zip(files, named, strict=True):
        events = read_trace(file, scanner=scanner, cache=cache)
        rank = rank_in_fields(events.header.fields)
        rank = by_name if rank is None else rank
        if rank is None:
            unnamed.append(events)
        else:
            found[rank] = _instead(found.get(rank), events, rank)
    for events in unnamed:
        found[next(rank for rank in range(len(found) + 1) if rank not in found)] = events
    return dict(sorted(found.items()))


def _instead(before: Events | None, events: Events, rank: int) -> Events:
    if before is None:
        return events
    note = f"{before.header.path} is of rank {rank} too, and was left out"
    return replace(events, header=replace(events.header, notes=(*before.header.notes, *events.header.notes, note)))


def traces_in(path: Path) -> list[Path]:
    """The trace files a path means: itself, or those in a folder (as `tensorboard_trace_handler` writes them)."""
    if not path.is_dir():
        return [path]
    inside = sorted(file for file in path.iterdir() if file.name.endswith((".json", ".json.gz")) and file.is_file())
    marked = [file for file in inside if ".pt.trace.json" in file.name]
    if not inside:
        raise BadData(f"{path} holds no trace; expected .json or .json.gz files that torch.profiler wrote")
    return marked or inside
