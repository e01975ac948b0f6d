"""A profile's records: its description, and the tables and charts that analyses produce.

Every analysis returns one of these, so that the terminal, the browser, the exports and the diff handle only them.
A `Sheet` describes each of its columns; a `Check` records that two ways to compute a number agree.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = [
    "PROFILE_FORMAT",
    "Check",
    "Column",
    "Curve",
    "Part",
    "ProfileDiff",
    "ProfileFile",
    "ProfileMeta",
    "Sheet",
    "Stack",
    "StepParts",
    "Unit",
]

PROFILE_FORMAT = 1

Unit = Literal["text", "count", "ns", "bytes", "share", "flops", "number", "factor", "flag", "line"]
"""ns: a time in nanoseconds, displayed as us, ms or s · share: 0 to 1, written in percent ·
factor: 3.1 is written 3.1x · flag: true or false · line: "file.py:34", a place in the source · text, count, number."""


class Column(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    key: str
    """Stable: used by exports and the diff."""
    label: str
    """The heading, short."""
    unit: Unit = "text"
    help: str = ""
    """What this number is, in one sentence; the tooltip."""
    hidden: bool = False
    """Hidden by default; included in exports, and shown on request."""
    sums: bool = False
    """Whether its rows may be summed (own time, calls, bytes: yes; a mean, a peak, nested totals: no); a total is
    shown.
    """


class Check(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An invariant: the same number computed in two ways."""

    name: str
    """parts sum to the step"""
    got: float
    expected: float
    unit: Unit = "ns"
    ok: bool = True
    """Within the analysis' tolerance."""
    detail: str = ""


class Sheet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A table with typed columns."""

    id: str
    title: str
    columns: list[Column]
    rows: list[list[Any]]
    """A cell is str, int, float, bool or None (unknown, shown as a dash, never as zero)."""
    levels: list[int] = []
    """For a tree: each row's depth, parents before their children. Empty: a flat table."""
    sort: str = ""
    """The sort column, largest first."""
    checks: list[Check] = []
    notes: list[str] = []
    """Caveats: what is missing, estimated or truncated."""


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One color of a breakdown."""

    key: str
    label: str
    help: str = ""


class StepParts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Steps split into parts that do not overlap and sum to the step."""

    id: str
    title: str
    parts: list[Part]
    steps: list[int]
    """Their numbers."""
    wall_ns: list[int]
    parts_ns: list[list[int]]
    """One list per step, in the order of `parts`."""
    first_is_odd: bool = False
    """Whether the first step is so much slower (warm-up, compilation) that it is excluded from the typical step."""
    typical_ns: list[int] = []
    """The mean of each part over the typical steps."""
    p50_ns: int = 0
    p90_ns: int = 0
    p99_ns: int = 0
    checks: list[Check] = []
    notes: list[str] = []


class Curve(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Lines over time, downsampled for the screen (minimum and maximum of each interval are kept)."""

    id: str
    title: str
    at_ns: list[int]
    """Since the start of the profile."""
    lines: dict[str, list[float]]
    unit: Unit = "bytes"
    stacked: bool = False
    notes: list[str] = []


class Stack(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A flattened call tree: `parent[i]` is the parent of node i (-1: a root); parents come before their children."""

    id: str
    title: str
    names: list[str]
    """function (file.py:12)"""
    files: list[str]
    lines: list[int]
    parent: list[int]
    name: list[int]
    """For each node, an index into names, files and lines."""
    total: list[float]
    own: list[float]
    calls: list[int] = []
    unit: Unit = "ns"
    by_line: list[list[float]] = []
    """For known source lines: index of the name, line, own, total."""
    notes: list[str] = []


class ProfileFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One file of a profile."""

    name: str
    kind: Literal["events", "trace", "prof", "stacks", "memory", "facts", "phases", "data", "other"]
    """events: the column table all analyses read · trace: what torch.profiler wrote · prof: cProfile's ·
    stacks: a `Stack` (msgpack) · memory: a `MemorySnapshot` · facts: what the advice needs to know of the process ·
    phases: simple profile of every step · data: measurements of the input pipeline."""
    rank: int = 0
    bytes: int = 0


class ProfileMeta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`profile.json` in `<run>/profiles/<id>/`: what was recorded, by what, and which steps."""

    format: int = PROFILE_FORMAT
    id: str
    kind: Literal["simple", "advanced", "pytorch", "opened"]
    created: float
    """Unix seconds."""
    first_step: int | None = None
    last_step: int | None = None
    why: str = ""
    """steps 20:25 were requested · the run was slow · a signal · imported from trace.json.gz"""
    options: dict[str, Any] = {}
    host: str = ""
    world: int = 1
    files: list[ProfileFile] = []
    overhead: str = ""
    """The cost of recording it, in words."""
    notes: list[str] = []


class ProfileDiff(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Two profiles side by side: what got slower, where, beyond the noise."""

    a: str
    b: str
    headline: str
    faster: bool | None = None
    """b's step relative to a's; None: no difference beyond the noise, or nothing to compare."""
    sheets: list[Sheet] = []
    notes: list[str] = []
