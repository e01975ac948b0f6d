"""`stepscope server doctor`: tries everything a server needs once, and says what is missing and what to do about it."""

from __future__ import annotations

import hashlib
import io
import os
import secrets
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from stepscope.common.units import bytes_text, duration
from stepscope.errors import StepscopeError
from stepscope.files.elsewhere import is_hollow
from stepscope.runs.format.filesystem import create_file, is_remote, sync_data
from stepscope.sync.locks import between_processes
from stepscope.sync.object_store import open_objects

_LITTLE_SPACE = 0.05
_SLOW_SYNC_S = 0.1


class Check(msgspec.Struct):
    name: str
    result: Literal["ok", "warning", "problem"]
    text: str


def check_server(folder: Path, database: str | None, objects: str | None) -> list[Check]:
    """All checks, in the order in which a server needs what they check."""
    checks: list[tuple[str, Callable[[], Iterator[Check]]]] = [
        ("folder", lambda: _folder(folder)),
        ("disk", lambda: _disk(folder)),
        ("database", lambda: _database(folder, database)),
        ("objects", lambda: _objects(folder, objects)),
        ("name", lambda: _host()),
    ]
    found: list[Check] = []
    for name, check in checks:
        try:
            found += check()
        except (StepscopeError, OSError) as fault:
            found.append(Check(name, "problem", str(fault)))
    return found


def _folder(folder: Path) -> Iterator[Check]:
    if not folder.is_dir():
        yield Check("folder", "problem", f"there is no folder {folder}; `stepscope server {folder}` creates it")
        return
    trial = folder / f".doctor-{secrets.token_hex(8)}"
    began = time.perf_counter()
    fd = create_file(trial)
    try:
        os.write(fd, b"x" * 4096)
        sync_data(fd)
    finally:
        os.close(fd)
        trial.unlink()
    took = time.perf_counter() - began
    slow = took > _SLOW_SYNC_S
    hint = "; every piece that clients send waits that long" if slow else ""
    text = f"{folder} is writable; a write reaches the disk in {duration(took)}{hint}"
    yield Check("folder", "warning" if slow else "ok", text)
    if is_remote(folder):
        yield Check("folder", "warning", "it is on a network file system; use PostgreSQL (--database), not SQLite")
    if not between_processes():
        yield Check("folder", "warning", "this system has no file locks; run only one server process on this folder")


def _disk(folder: Path) -> Iterator[Check]:
    if not folder.is_dir():
        return
    space = shutil.disk_usage(folder)
    share = space.free / space.total
    text = f"{bytes_text(space.free)} free of {bytes_text(space.total)}"
    hint = "; when the disk is full, clients keep their runs and send them later"
    yield Check("disk", "warning" if share < _LITTLE_SPACE else "ok", text + (hint if share < _LITTLE_SPACE else ""))


def _database(folder: Path, url: str | None) -> Iterator[Check]:
    from stepscope.database.engine import default_url, open_database
    from stepscope.database.migrate import migrate

    if url is None and not folder.is_dir():
        return
    with open_database(url or default_url(folder)) as database:
        revision = migrate(database)
        kind = "PostgreSQL" if database.is_postgresql else "SQLite"
        yield Check("database", "ok", f"{kind} at {database.name}, revision {revision}")


def _objects(folder: Path, place: str | None) -> Iterator[Check]:
    if place is None:
        yield Check("objects", "ok", "no object store: runs stay in the folder")
        return
    objects = open_objects(place)
    data = secrets.token_bytes(100_000)
    sha256 = hashlib.sha256(data).hexdigest()
    key = f".doctor/{sha256}"
    try:
        objects.put(key, io.BytesIO(data), len(data), sha256)
        if objects.read(key, 1000, 2000) != data[1000:2000]:
            yield Check("objects", "problem", f"{objects.name} does not return the requested byte range")
            return
    finally:
        objects.delete(key)
    yield Check("objects", "ok", f"{objects.name} can store, read in ranges and delete objects")
    if folder.is_dir() and not _takes_hollow(folder):
        yield Check(
            "objects",
            "warning",
            f"{folder} does not support sparse files: runs moved to the object store still take space there",
        )


def _takes_hollow(folder: Path) -> bool:
    trial = folder / f".doctor-{secrets.token_hex(8)}"
    fd = create_file(trial)
    try:
        os.ftruncate(fd, 1 << 20)
        return is_hollow(os.fstat(fd))
    finally:
        os.close(fd)
        trial.unlink()


def _host() -> Iterator[Check]:
    name = socket.gethostname()
    yield Check("name", "ok", f"{name}; behind a proxy, give the proxy's name with --allow-host")
