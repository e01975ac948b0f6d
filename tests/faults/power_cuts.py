"""What a folder may look like after a power cut, or a kill, at any moment of some work on it.

The folder is looked at before every system call of the work that could matter to a disk. What had been synced by then
is certain: the bytes of a file by a sync of the file, the names in a folder by a sync of the folder. Of the rest any
part may be missing: sectors of a file, names that came, names that went. A rename is never half done. The calls that
this process makes through `os` are watched, so that no privilege is needed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

__all__ = ["Disk", "Moment", "watched"]

SECTOR = 512
_CALLS = ("open", "write", "fsync", "fdatasync", "replace", "rename", "unlink", "remove", "mkdir", "rmdir", "link")
Names = dict[str, int]
"""A folder: inode by name."""


@dataclass
class Moment:
    """Folders and files at one moment, by inode: as processes see them."""

    root: int
    folders: dict[int, Names] = field(default_factory=dict)
    files: dict[int, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, top: Path) -> Moment:
        moment = cls(top.stat().st_ino)
        for folder, subfolders, names in os.walk(top):
            here = moment.folders.setdefault(os.stat(folder).st_ino, {})
            for name in (*subfolders, *names):
                path = os.path.join(folder, name)
                here[name] = inode = os.lstat(path).st_ino
                if name in names:
                    with open(path, "rb") as file:
                        moment.files[inode] = file.read()
        return moment

    def put(self, target: Path, folder: int | None = None) -> None:
        """Make these folders and files below `target`."""
        target.mkdir(mode=0o700)
        for name, inode in self.folders.get(self.root if folder is None else folder, {}).items():
            if inode in self.files:
                (target / name).write_bytes(self.files[inode])
            elif inode in self.folders:
                self.put(target / name, inode)


class Disk:
    """All moments of some work, each with what was certain to survive it."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.certain = Moment.of(top)
        self.moments: list[tuple[str, Moment, Moment]] = []

    def look(self, call: str) -> None:
        """Note what there is, before `call`."""
        now = Moment.of(self.top)
        certain = Moment(
            now.root, {inode: dict(names) for inode, names in self.certain.folders.items()}, dict(self.certain.files)
        )
        self.moments.append((call, now, certain))

    def sync(self, path: str) -> None:
        """What is in this file or folder is certain from now on."""
        now = Moment.of(self.top)
        try:
            inode = os.stat(path).st_ino
        except FileNotFoundError:  # removed while open
            return
        if inode in now.files:
            self.certain.files[inode] = now.files[inode]
        elif inode in now.folders:
            self._certain_names(now, inode)

    def _certain_names(self, now: Moment, folder: int) -> None:
        """The names in a folder, and the other half of each rename from it or to it."""
        before = self.certain.folders.get(folder, {})
        self.certain.folders[folder] = dict(now.folders[folder])
        for inode in {*before.values(), *now.folders[folder].values()}:
            places = [
                (other, name) for other, names in now.folders.items() for name, one in names.items() if one == inode
            ]
            if not places:
                continue  # unlinked
            for names in self.certain.folders.values():
                for name in [name for name, one in names.items() if one == inode]:
                    del names[name]
            for other, name in places:
                self.certain.folders.setdefault(other, {})[name] = inode

    def after_kills(self) -> Iterator[tuple[str, Moment]]:
        """What a SIGKILL before each call leaves: all that was done until then."""
        yield from ((call, now) for call, now, _ in self.moments)

    def after_cuts(self, chance: random.Random, each: int) -> Iterator[tuple[str, Moment]]:
        """What a power cut before each call may leave, `each` times."""
        for call, now, certain in self.moments:
            for _ in range(each):
                yield call, _cut(now, certain, chance)


def _cut(now: Moment, certain: Moment, chance: random.Random) -> Moment:
    cut = Moment(now.root)
    moved = _moved(now, certain)
    stays = {inode: chance.random() < 0.5 for inode in sorted(moved)}
    for inode in {*now.folders, *certain.folders}:
        before, after = certain.folders.get(inode, {}), now.folders.get(inode, {})
        here = cut.folders.setdefault(inode, {})
        for name in sorted({*before, *after}):
            old, new = before.get(name), after.get(name)
            one = new if old == new or _takes(old, new, stays, chance) else old
            if one is not None:
                here[name] = one
    for inode in {*now.files, *certain.files}:
        cut.files[inode] = _torn(certain.files.get(inode, b""), now.files.get(inode), chance)
    return cut


def _moved(now: Moment, certain: Moment) -> set[int]:
    """What was certain under one name and now has another: renamed, which happens as a whole or not at all."""
    before = {(folder, name): inode for folder, names in certain.folders.items() for name, inode in names.items()}
    after = {(folder, name): inode for folder, names in now.folders.items() for name, inode in names.items()}
    still = {inode for place, inode in before.items() if after.get(place) == inode}
    return (set(before.values()) & set(after.values())) - still


def _takes(old: int | None, new: int | None, stays: dict[int, bool], chance: random.Random) -> bool:
    """Whether a name that changed is as it is now."""
    for inode in (old, new):
        if inode in stays:
            return not stays[inode]
    return chance.random() < 0.5


def _torn(certain: bytes, now: bytes | None, chance: random.Random) -> bytes:
    """Sectors of the new bytes over those that are certain."""
    if now is None or now == certain:
        return certain if now is None else now
    kind = chance.randrange(4)
    if kind == 0:
        return certain
    if kind == 1:
        return now
    torn = bytearray(certain.ljust(len(now), b"\0")[: len(now)])
    for start in range(0, len(now), SECTOR):
        if chance.random() < 0.5:
            torn[start : start + SECTOR] = now[start : start + SECTOR]
    return bytes(torn)


@contextmanager
def watched(top: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    """Watch what this process does below `top`."""
    disk = Disk(top)
    with monkeypatch.context() as patch:
        for name in _CALLS:
            patch.setattr(os, name, _watched(disk, name, getattr(os, name), patch))
        yield disk
    disk.look("the end")


def _watched(disk: Disk, name: str, real: Callable[..., Any], patch: pytest.MonkeyPatch) -> Callable[..., Any]:
    busy = False

    def call(first: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal busy
        if busy or (name == "open" and not _writes(*arguments, **options)):
            return real(first, *arguments, **options)
        busy = True
        try:
            path = os.readlink(f"/proc/self/fd/{first}") if isinstance(first, int) else os.fspath(first)
            ours = Path(path).is_relative_to(disk.top)
            if ours:
                disk.look(f"{name} {os.path.basename(path)}")
            done = real(first, *arguments, **options)
            if ours and name in ("fsync", "fdatasync"):
                disk.sync(path)
            return done
        finally:
            busy = False

    return call


def _writes(flags: int = 0, *_: Any, **__: Any) -> bool:
    return bool(flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR))
