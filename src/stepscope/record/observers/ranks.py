"""Ranks: what each process of a distributed training writes down for the one that compares them.

Ranks of a launcher keep their facts in memory, and a thread sends them through the store of the process group
(`launch/rank_notes.py`). A process that the script has started itself appends lines of JSON to a file in a private
folder of its parent. Nothing here waits for another process.
"""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path
from typing import Any, Protocol

import msgspec

from stepscope.common import clocks
from stepscope.evidence.ranks import (
    Called,
    Delivered,
    Ended,
    Fact,
    NotFinite,
    OpenFile,
    Pace,
    Rank,
    RankFed,
    RunningStats,
    Sampled,
    Saved,
    Synced,
    Weights,
    Wrapped,
)  # fmt: skip
from stepscope.files.opening import read_file
from stepscope.records import Finding

_LARGEST = 20_000_000


class Began(Fact, frozen=True):
    """A process group is there; this is our place in it."""

    rank: int
    size: int


class Trained(Fact, frozen=True):
    """A backward followed a batch of this loader."""

    loader: int


class Returned(Fact, frozen=True):
    """It has returned."""

    number: int


class Found(Fact, frozen=True):
    """A rule has found something."""

    finding: Finding


class Crashed(Fact, frozen=True):
    """What there was to say about an exception, in words."""

    error: str
    said: str
    explained: bool
    """A rule has found its cause."""
    time: float


AnyFact = (
    Began | Delivered | RankFed | Trained | Wrapped | Sampled | Synced | Weights | Pace | RunningStats | Saved
    | OpenFile | NotFinite | Called | Returned | Ended | Found | Crashed
)  # fmt: skip
_decoder = msgspec.json.Decoder(AnyFact)


class Writes(Protocol):
    """Whoever takes facts."""

    def write(self, fact: AnyFact) -> None: ...


class Outbox:
    """Facts in memory, until a thread sends them."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()

    def write(self, fact: AnyFact) -> None:
        self._lines.append(msgspec.json.encode(fact, enc_hook=str))

    def take(self, most_bytes: int) -> bytes:
        """Those that were not taken yet, as many as fit: lines of JSON."""
        taken: list[bytes] = []
        while self._lines and (not taken or sum(map(len, taken)) + len(self._lines[0]) < most_bytes):
            taken.append(self._lines.popleft())
        return b"\n".join(taken)


class Notes:
    """One process's file. A folder that has gone away, or a full disk, ends the notes and nothing else."""

    def __init__(self, folder: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
        self._pid = os.getpid()
        name = f"{self._pid}-{clocks.time_ns()}.jsonl"
        self._file: int | None = os.open(os.path.join(folder, name), flags, 0o600)

    def write(self, fact: AnyFact) -> None:
        """Have one more line in the file when this returns."""
        if self._file is None or os.getpid() != self._pid:
            return
        try:
            os.write(self._file, msgspec.json.encode(fact, enc_hook=str) + b"\n")
        except OSError:
            self.close()

    def close(self) -> None:
        if self._file is not None and os.getpid() == self._pid:
            os.close(self._file)
        self._file = None


def is_private(folder: Path) -> bool:
    """Whether a folder is ours and nobody else can write to it."""
    try:
        stat = folder.lstat()
    except OSError:
        return False
    return folder.is_dir() and not folder.is_symlink() and stat.st_uid == os.getuid() and not stat.st_mode & 0o077


def rank_of(facts: list[Any]) -> Rank:
    """All that one process has written down."""
    rank = Rank()
    for fact in facts:
        match fact:
            case Began():
                rank.rank, rank.size = fact.rank, fact.size
            case Delivered():
                rank.delivered.setdefault(fact.loader, []).append(fact)
            case RankFed():
                rank.fed.append(fact)
            case Trained():
                rank.trained.add(fact.loader)
            case Wrapped():
                (rank.wraps if fact.size in (0, rank.size) else rank.parts).append(fact)
            case Sampled():
                rank.sampled[fact.loader] = fact
            case RunningStats():
                rank.running[fact.step] = fact
            case Saved():
                rank.saved.append(fact)
            case OpenFile():
                rank.open_files.append(fact)
            case NotFinite():
                rank.not_finite = rank.not_finite or fact
            case Synced():
                rank.synced.append(fact)
            case Weights():
                rank.weights[fact.step] = fact
            case Pace():
                rank.paces[fact.step] = fact
            case Called():
                rank.called.append(fact)
            case Returned():
                rank.returned.add(fact.number)
            case Ended():
                rank.ended = fact
    return rank


def read_facts(folder: Path) -> list[list[Any]]:
    """The facts of each process; a line that was cut off by a kill is left out."""
    found: list[list[Any]] = []
    for path in sorted(folder.glob("*.jsonl")):
        try:
            lines = read_file(path, _LARGEST, within=folder).splitlines()
        except OSError:
            continue
        found.append(facts_in(lines))
    return found


def facts_in(lines: list[bytes]) -> list[Any]:
    """The facts of these lines; one that cannot be read is left out."""
    facts = []
    for line in lines:
        try:
            facts.append(_decoder.decode(line))
        except msgspec.MsgspecError:
            continue
    return facts


def read_ranks(facts: list[list[Any]]) -> list[Rank]:
    """Those that were part of a process group of several, by their rank; the last, where one was started again."""
    ranks = {one.rank: one for one in map(rank_of, facts) if one.rank >= 0 and one.size > 1}
    return [ranks[number] for number in sorted(ranks)]
