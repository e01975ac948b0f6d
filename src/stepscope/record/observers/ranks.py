"""Ranks: what each process of a distributed training writes down for the one that compares them.

Every process appends lines of JSON to a file of its own in one private folder, each as soon as it is known: a rank that
hangs or is killed has still told how far it came. Nothing here waits for another process.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import msgspec

from stepscope.evidence.ranks import Called, Delivered, Ended, Fact, Rank, RankFed, Synced, Weights, Wrapped
from stepscope.files.opening import read_file
from stepscope.records import Finding

__all__ = [
    "Began", "Crashed", "Found", "Notes", "Returned", "Trained", "is_private", "rank_of", "read_facts", "read_ranks",
]  # fmt: skip

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
    Began | Delivered | RankFed | Trained | Wrapped | Synced | Weights | Called | Returned | Ended | Found | Crashed
)  # fmt: skip
_decoder = msgspec.json.Decoder(AnyFact)


class Notes:
    """One process's file. A folder that has gone away, or a full disk, ends the notes and nothing else."""

    def __init__(self, folder: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
        self._pid = os.getpid()
        name = f"{self._pid}-{time.time_ns()}.jsonl"
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
                rank.wraps.append(fact)
            case Synced():
                rank.synced.append(fact)
            case Weights():
                rank.weights[fact.step] = fact
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
        facts = []
        for line in lines:
            try:
                facts.append(_decoder.decode(line))
            except msgspec.MsgspecError:
                continue
        found.append(facts)
    return found


def read_ranks(facts: list[list[Any]]) -> list[Rank]:
    """Those that were part of a process group of several, by their rank; the last, where one was started again."""
    ranks = {one.rank: one for one in map(rank_of, facts) if one.rank >= 0 and one.size > 1}
    return [ranks[number] for number in sorted(ranks)]
