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

from stepscope.files.opening import read_file
from stepscope.records import Finding

__all__ = [
    "Began", "Called", "Crashed", "Delivered", "Ended", "Fact", "Fed", "Found", "Notes", "Rank", "Returned", "Spot",
    "Synced", "Trained", "Weights", "Wrapped", "is_private", "read_facts", "read_ranks",
]  # fmt: skip

Spot = tuple[str, int]
"""A file and a line."""
_LARGEST = 20_000_000


class _Fact(msgspec.Struct, frozen=True, tag=True, array_like=True):
    pass


class Began(_Fact, frozen=True):
    """A process group is there; this is our place in it."""

    rank: int
    size: int


class Delivered(_Fact, frozen=True):
    """A loader has given a batch."""

    loader: int
    number: int
    digest: str
    length: int
    sampler: str
    shared: bool
    """Its sampler shares the data out among the ranks."""
    iterable: bool
    made: Spot | None


class Fed(_Fact, frozen=True):
    """A model was called with gradients on; how its input looks."""

    number: int
    digest: str
    length: int


class Trained(_Fact, frozen=True):
    """A backward followed a batch of this loader."""

    loader: int


class Wrapped(_Fact, frozen=True):
    """A model was made DistributedDataParallel."""

    place: Spot | None


class Synced(_Fact, frozen=True):
    """A collective was called on gradients or on parameters: "grads" or "params"."""

    what: str
    step: int
    names: list[str]
    """Of the parameters concerned; empty for all."""


class Weights(_Fact, frozen=True):
    """The parameters before the backward after so many steps."""

    step: int
    names: list[str]
    digests: list[str]
    values: list[list[float]]
    """A few of each."""
    made: Spot | None
    """Where the model was made."""


class Called(_Fact, frozen=True):
    """A collective of all ranks is being called."""

    number: int
    name: str
    shape: list[int]
    place: Spot | None


class Returned(_Fact, frozen=True):
    """It has returned."""

    number: int


class Ended(_Fact, frozen=True):
    """The process has come to its end, by itself or by an exception."""

    steps: int
    backwards: int
    batches: dict[int, int]
    """Of each loader that trains."""
    loop: Spot | None
    """Where the loader that trains is looped over."""
    error: str | None


class Found(_Fact, frozen=True):
    """A rule has found something."""

    finding: Finding


class Crashed(_Fact, frozen=True):
    """What there was to say about an exception, in words."""

    error: str
    said: str
    explained: bool
    """A rule has found its cause."""
    time: float


Fact = (
    Began | Delivered | Fed | Trained | Wrapped | Synced | Weights | Called | Returned | Ended | Found | Crashed
)  # fmt: skip
_decoder = msgspec.json.Decoder(Fact)


class Notes:
    """One process's file. A folder that has gone away, or a full disk, ends the notes and nothing else."""

    def __init__(self, folder: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
        self._pid = os.getpid()
        name = f"{self._pid}-{time.time_ns()}.jsonl"
        self._file: int | None = os.open(os.path.join(folder, name), flags, 0o600)

    def write(self, fact: Fact) -> None:
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


class Rank:
    """All that one process has written down."""

    def __init__(self, facts: list[Any]) -> None:
        self.rank = -1
        self.size = 1
        self.delivered: dict[int, list[Delivered]] = {}
        self.fed: list[Fed] = []
        self.trained: set[int] = set()
        self.wraps: list[Wrapped] = []
        self.synced: list[Synced] = []
        self.weights: dict[int, Weights] = {}
        self.called: list[Called] = []
        self.returned: set[int] = set()
        self.ended: Ended | None = None
        for fact in facts:
            self._take(fact)

    def _take(self, fact: Any) -> None:
        match fact:
            case Began():
                self.rank, self.size = fact.rank, fact.size
            case Delivered():
                self.delivered.setdefault(fact.loader, []).append(fact)
            case Fed():
                self.fed.append(fact)
            case Trained():
                self.trained.add(fact.loader)
            case Wrapped():
                self.wraps.append(fact)
            case Synced():
                self.synced.append(fact)
            case Weights():
                self.weights[fact.step] = fact
            case Called():
                self.called.append(fact)
            case Returned():
                self.returned.add(fact.number)
            case Ended():
                self.ended = fact

    @property
    def shares_gradients(self) -> bool:
        """Whether it trains one model together with the other ranks."""
        return bool(self.wraps) or any(one.what == "grads" for one in self.synced)

    @property
    def waits_in(self) -> Called | None:
        """The collective that was called and has not come back."""
        last = self.called[-1] if self.called else None
        return last if last is not None and last.number not in self.returned else None


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
    ranks = {one.rank: one for one in map(Rank, facts) if one.rank >= 0 and one.size > 1}
    return [ranks[number] for number in sorted(ranks)]
