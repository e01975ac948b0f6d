"""The index: a disposable cache of the catalog's facts about each run. docs/design/005 explains why.

It is one SQLite file on a local disk, in the user's cache. It is never the source of truth: a damaged, deleted or
outdated index is silently replaced by an empty one, and a row with a wrong checksum is ignored. Losing it costs time,
never data.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar
from zlib import crc32

import msgspec

from stepscope.runs.format.filesystem import is_remote, make_private_folder

SCHEMA = 3
"""Increment when the stored data changes; files with another schema are ignored."""

_TABLES = """
CREATE TABLE IF NOT EXISTS keysets (id INTEGER PRIMARY KEY, crc INTEGER NOT NULL, names BLOB NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS runs (
    store TEXT NOT NULL, folder TEXT NOT NULL, stamp TEXT NOT NULL, crc INTEGER NOT NULL,
    keyset INTEGER NOT NULL, head BLOB NOT NULL, PRIMARY KEY (store, folder)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS stats (
    store TEXT NOT NULL, folder TEXT NOT NULL, crc INTEGER NOT NULL,
    data BLOB NOT NULL, PRIMARY KEY (store, folder));
"""
_PASSING = ("database is locked", "database table is locked", "database or disk is full")
"""Temporary errors that do not mean the file is bad; it is kept and used again next time."""
_GENERATIONS = 20

T = TypeVar("T")


class Row(NamedTuple):
    """The cached data of one run: its stamp (see `change_detection.py`), its head, and the names of its metrics."""

    folder: str
    stamp: str
    head: bytes
    names: tuple[str, ...]
    stats: bytes = b""
    """Numbers of each metric; set only when a row is saved, and read separately because they are large."""


class RunIndex(Protocol):
    """The index interface: a file in the user's cache, or a team server's database."""

    def rows(self, store: str) -> Iterable[Row]: ...

    def row(self, store: str, folder: str) -> Row | None: ...

    def stats(self, store: str, folder: str) -> bytes | None: ...

    def visit_stats(self, store: str, visit: Callable[[str, bytes], None]) -> None: ...

    def save(self, store: str, rows: Iterable[Row], gone: Iterable[str] = ()) -> None: ...

    def close(self) -> None: ...


def cache_folder() -> Path:
    """The user's cache folder: `STEPSCOPE_CACHE`, else the platform's default."""
    chosen = os.environ.get("STEPSCOPE_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "stepscope" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "stepscope"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stepscope"


class Index:
    """The index of one process. Every call works whatever happens to the file; at worst it returns nothing."""

    def __init__(self, folder: Path | None = None) -> None:
        self._lock = threading.RLock()
        self._folder: Path | None = cache_folder() if folder is None else folder
        self._generation = 0
        self.path: Path | None = None
        """The file, or None if the index is in memory only."""
        self._db = self._open()
        self._names: dict[int, tuple[str, ...]] = {}

    def rows(self, store: str) -> list[Row]:
        """All valid rows of a store, without their stats."""

        def read(db: sqlite3.Connection) -> list[Row]:
            sql = "SELECT folder, stamp, crc, keyset, head FROM runs WHERE store = ?"
            return [
                Row(folder, stamp, head, self._keyset(db, keyset))
                for folder, stamp, crc, keyset, head in db.execute(sql, (store,))
                if crc == crc32(head, crc32(f"{folder}\0{stamp}\0{keyset}".encode()))
            ]

        return self._safely(read, [])

    def row(self, store: str, folder: str) -> Row | None:
        """The row of one run, without its stats."""
        return next((row for row in self.rows(store) if row.folder == folder), None)

    def stats(self, store: str, folder: str) -> bytes | None:
        """The numbers of one run's metrics, or None if they must be read from the run."""

        def read(db: sqlite3.Connection) -> bytes | None:
            found = db.execute("SELECT crc, data FROM stats WHERE store = ? AND folder = ?", (store, folder)).fetchone()
            return found[1] if found and found[0] == _stats_crc(folder, found[1]) else None

        return self._safely(read, None)

    def visit_stats(self, store: str, visit: Callable[[str, bytes], None]) -> None:
        """Call `visit(folder, numbers)` for all runs of a store, in one pass."""

        def read(db: sqlite3.Connection) -> None:
            for folder, crc, data in db.execute("SELECT folder, crc, data FROM stats WHERE store = ?", (store,)):
                if crc == crc32(data, crc32(folder.encode())):  # inlined `_stats_crc`, to avoid a call per run
                    visit(folder, data)

        self._safely(read, None)

    def save(self, store: str, rows: Iterable[Row], gone: Iterable[str] = ()) -> None:
        """Save some rows and remove others in one transaction."""

        def write(db: sqlite3.Connection) -> None:
            with db:
                db.execute("BEGIN IMMEDIATE")
                for folder in gone:
                    db.execute("DELETE FROM runs WHERE store = ? AND folder = ?", (store, folder))
                    db.execute("DELETE FROM stats WHERE store = ? AND folder = ?", (store, folder))
                for row in rows:
                    self._put(db, store, row)

        rows, gone = list(rows), list(gone)
        if rows or gone:
            self._safely(write, None)

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def __del__(self) -> None:
        db = getattr(self, "_db", None)
        if db is not None:
            db.close()

    # -- internals -----------------------------------------------------------------------------------------------

    def _put(self, db: sqlite3.Connection, store: str, row: Row) -> None:
        names = msgspec.msgpack.encode(row.names)
        db.execute("INSERT OR IGNORE INTO keysets (crc, names) VALUES (?, ?)", (crc32(names), names))
        keyset = int(db.execute("SELECT id FROM keysets WHERE names = ?", (names,)).fetchone()[0])
        crc = crc32(row.head, crc32(f"{row.folder}\0{row.stamp}\0{keyset}".encode()))
        db.execute(
            "INSERT OR REPLACE INTO runs (store, folder, stamp, crc, keyset, head) VALUES (?, ?, ?, ?, ?, ?)",
            (store, row.folder, row.stamp, crc, keyset, row.head),
        )
        db.execute(
            "INSERT OR REPLACE INTO stats (store, folder, crc, data) VALUES (?, ?, ?, ?)",
            (store, row.folder, _stats_crc(row.folder, row.stats), row.stats),
        )

    def _keyset(self, db: sqlite3.Connection, number: int) -> tuple[str, ...]:
        """The names of a keyset; the same tuple for all runs that share it."""
        known = self._names.get(number)
        if known is None:
            found = db.execute("SELECT crc, names FROM keysets WHERE id = ?", (number,)).fetchone()
            if found is None or found[0] != crc32(found[1]):
                raise sqlite3.DatabaseError(f"keyset {number} is missing or damaged")
            known = self._names[number] = msgspec.msgpack.decode(found[1], type=tuple[str, ...])
        return known

    def _safely(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Run `work`; a damaged file is replaced by an empty one, a busy one is left for the next time."""
        with self._lock:
            try:
                return work(self._db)
            except (sqlite3.Error, msgspec.DecodeError) as fault:
                if not str(fault).startswith(_PASSING):
                    self._start_anew(damaged=_is_damage(fault))
                return otherwise

    def _start_anew(self, damaged: bool) -> None:
        """Continue with a new file under a new name.

        The old name is never used again: SQLite finds journals by name, so a process that still has the old file open
        would damage a new one in its place.
        """
        self._db.close()
        if self.path is not None and damaged:
            _remove(self.path)
        self._names.clear()
        self._generation += 1
        self._db = self._open()

    def _open(self) -> sqlite3.Connection:
        for path in self._candidates():
            try:
                db = _connect(path)
            except (sqlite3.Error, OSError) as fault:
                if str(fault).startswith(_PASSING):
                    break
                if _is_damage(fault):
                    _remove(path)
                continue
            self.path = path
            return db
        self.path = None
        return _with_tables(sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None))

    def _candidates(self) -> Iterator[Path]:
        if self._folder is None:
            return
        try:
            self._folder.parent.mkdir(parents=True, exist_ok=True)
            make_private_folder(self._folder, exist_ok=True)
            if is_remote(self._folder):  # SQLite's locks and shared memory need a local disk
                return
            taken = [int(file.name.split(".")[1]) for file in self._folder.glob(f"index-{SCHEMA}.*.sqlite")]
        except (OSError, ValueError):
            return
        start = max([self._generation, *taken], default=0)
        for generation in range(start, start + _GENERATIONS):
            self._generation = generation
            yield self._folder / f"index-{SCHEMA}.{generation}.sqlite"


def _connect(path: Path) -> sqlite3.Connection:
    fd = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)  # SQLite would make it with the umask's mode
    os.close(fd)
    db = sqlite3.connect(path, timeout=2.0, check_same_thread=False, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        return _with_tables(db)
    except sqlite3.Error:
        db.close()
        raise


def _is_damage(fault: Exception) -> bool:
    """Whether the file itself is damaged, and not only unavailable (too many open files, say)."""
    return not isinstance(fault, (sqlite3.OperationalError, OSError)) or str(fault).startswith(("no such", "table "))


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        try:
            os.unlink(f"{path}{suffix}")
        except OSError:
            pass  # only clutter, and possibly already deleted


def _with_tables(db: sqlite3.Connection) -> sqlite3.Connection:
    db.executescript(_TABLES)
    return db


def _stats_crc(folder: str, data: bytes) -> int:
    return crc32(data, crc32(folder.encode()))
