"""Runs that have ended move to the object store; hollow files of the same size stay, and are read by ranges.

    manifest = archive(run, objects)             # all of its files are in the store, the large ones only there
    with read_from(objects): open_run(run)       # every reader works as before
    bring_back(objects, id, store)               # a disk that was lost

A file is removed here only after the store has it, with its SHA-256, and after the manifest that says so is on the
disk and in the store. Interrupted anywhere, a run is complete here, or there, or both.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import msgspec

from stepscope.errors import BadData
from stepscope.files.decoding import MALFORMED
from stepscope.files.elsewhere import Fetch, is_hollow, look_elsewhere
from stepscope.files.listing import plain_files
from stepscope.files.opening import open_file, read_file
from stepscope.runs.catalogue.change_detection import is_sealed
from stepscope.runs.compact.compact import covered_files
from stepscope.runs.format.filesystem import create_file, make_folder, make_store, sync_folder
from stepscope.runs.format.ids import is_run_id, new_run_id
from stepscope.runs.format.layout import write_file
from stepscope.runs.format.ledger import read_ledger
from stepscope.runs.format.sealed import seal_of, sealed
from stepscope.sync.objects import Objects
from stepscope.sync.wire import check_name, file_id, is_log

MANIFEST = ".objects.json"
KEY = ".manifest.json"
"""The copy of the manifest in the store, written last: a run without it there is not complete there."""
SMALLEST = 16 << 10
"""Smaller files stay here too: they are asked for often, and take no room."""
_LARGEST_MANIFEST = 256 << 20
_CHUNK = 1 << 20
_BLOCK = 1 << 20
_BLOCKS = 64


class Archived(msgspec.Struct, frozen=True):
    """A file that is in the store."""

    size: int
    sha256: str
    mtime_ns: int


class Manifest(msgspec.Struct):
    run: str
    store: str
    """The name of the object store, for messages."""
    files: dict[str, Archived] = {}


_decoder = msgspec.json.Decoder(Manifest)


def manifest_of(run: Path) -> Manifest | None:
    """What of a run is in the object store; None where it never moved."""
    try:
        return _manifest(read_file(run / MANIFEST, _LARGEST_MANIFEST, within=run), run.name)
    except FileNotFoundError:
        return None


def _manifest(data: bytes, run: str) -> Manifest:
    try:
        if seal_of(data) != "sound":
            raise BadData(f"the manifest of run {run} does not match its checksum")
        return _decoder.decode(data)
    except MALFORMED as fault:
        raise BadData(f"the manifest of run {run} cannot be read: {fault}") from None


def archive(run: Path, objects: Objects, smallest: int = SMALLEST) -> Manifest:
    """Have all files of a run in the store, and only there what is larger than `smallest`.

    A log that is not sealed stays here too: a run ends with its first rank, and those of others may still be arriving.
    """
    manifest = manifest_of(run) or Manifest(run.name, objects.name)
    changed = False
    for path in _files(run):
        name, found = path.relative_to(run).as_posix(), path.lstat()
        known = manifest.files.get(name)
        if known is not None and known.size == found.st_size and is_hollow(found):
            continue
        if known is None or (known.size, known.mtime_ns) != (found.st_size, found.st_mtime_ns):
            manifest.files[name] = _put(run, name, objects)
            changed = True
    if changed:
        _write_manifest(run, objects, manifest)
    for name, entry in manifest.files.items():
        if entry.size >= smallest and not _may_grow(run, name):
            _hollow_out(run / name, entry)
    return manifest


def drop(run: Path, objects: Objects, names: Iterable[str] = ()) -> int:
    """Let go of these files in the store, and of those that retention or compaction has removed here; how many.

    The manifest goes first: what it does not name is not missed. Called again, it finishes what was interrupted.
    """
    manifest = manifest_of(run)
    if manifest is None:
        return 0
    going = {name for name in read_ledger(run).files if not (run / name).exists()} | set(names)
    going |= _compacted(run, manifest)
    going &= manifest.files.keys()
    if going:
        manifest.files = {name: entry for name, entry in manifest.files.items() if name not in going}
        _write_manifest(run, objects, manifest)
    for key in going:
        objects.delete(f"{run.name}/{key}")
    return len(going)


def _compacted(run: Path, manifest: Manifest) -> set[str]:
    """Logs that were uploaded before they were sealed, and are a part of a compacted file by now."""
    gone = {name for name in manifest.files if is_log(name) and not (run / name).exists()}
    if not gone:
        return gone
    covered = covered_files(run)
    return {name for name in gone if file_id(name) in covered}


def _write_manifest(run: Path, objects: Objects, manifest: Manifest) -> None:
    data = sealed(msgspec.json.encode(manifest))
    objects.put(f"{run.name}/{KEY}", BytesIO(data), len(data), hashlib.sha256(data).hexdigest())
    write_file(run / MANIFEST, data)


def _may_grow(run: Path, name: str) -> bool:
    return is_log(name) and not is_sealed(run / name)


def _files(run: Path) -> list[Path]:
    found = plain_files(run, enter=lambda folder: not folder.name.startswith("."))
    return [path for path in found if not path.name.startswith(".")]


def _put(run: Path, name: str, objects: Objects) -> Archived:
    with open_file(run / name, within=run) as file:
        before = os.fstat(file.fileno())
        digest, left = hashlib.sha256(), before.st_size  # a log may grow meanwhile
        while chunk := file.read(min(left, _CHUNK)):
            digest.update(chunk)
            left -= len(chunk)
        file.seek(0)
        entry = Archived(before.st_size, digest.hexdigest(), before.st_mtime_ns)
        objects.put(f"{run.name}/{check_name(name)}", file, entry.size, entry.sha256)
    return entry


def _hollow_out(path: Path, entry: Archived) -> None:
    """Put a file of the same size, time and mode in its place that takes no room; readers that have it open keep it."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if is_hollow(found) or (found.st_size, found.st_mtime_ns) != (entry.size, entry.mtime_ns):
        return
    _make_hollow(path, entry, found.st_mode & 0o777)


def _make_hollow(path: Path, entry: Archived, mode: int | None = None) -> None:
    temporary = path.with_name(f".{new_run_id()}.tmp")
    fd = create_file(temporary)
    try:
        try:
            os.ftruncate(fd, entry.size)
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(fd, mode)
        finally:
            os.close(fd)
        os.utime(temporary, ns=(entry.mtime_ns, entry.mtime_ns))
        if not is_hollow(temporary.lstat()):  # a file system that gives every byte its room: nothing would be gained
            return
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


# -- reading ------------------------------------------------------------------------------------------------------


@contextmanager
def read_from(objects: Objects) -> Iterator[None]:
    """Hollow files of runs are read from the store, in this process, as long as this lasts."""
    end = look_elsewhere(_Finder(objects).find)
    try:
        yield
    finally:
        end()


class _Finder:
    """Finds the object behind a hollow file, and keeps blocks that were read last: pages ask for the same again."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._lock = threading.Lock()
        self._manifests: OrderedDict[Path, tuple[int, Manifest]] = OrderedDict()
        self._blocks: OrderedDict[tuple[str, str, int], bytes] = OrderedDict()

    def find(self, path: str, size: int) -> Fetch | None:
        file = Path(path)
        for run in list(file.parents)[:4]:
            if is_run_id(run.name):
                break
        else:
            return None
        manifest = self._manifest(run)
        entry = manifest.files.get(file.relative_to(run).as_posix()) if manifest is not None else None
        if manifest is None or entry is None or entry.size != size:
            return None
        key = f"{manifest.run}/{file.relative_to(run).as_posix()}"
        known = entry
        return lambda start, end: self._range(key, known, start, end)

    def _manifest(self, run: Path) -> Manifest | None:
        try:
            stamp = os.lstat(run / MANIFEST).st_mtime_ns
        except OSError:
            return None
        with self._lock:
            known = self._manifests.get(run)
        if known is None or known[0] != stamp:
            found = manifest_of(run)
            if found is None:
                return None
            known = (stamp, found)
            with self._lock:
                self._manifests[run] = known
                while len(self._manifests) > _BLOCKS:
                    self._manifests.popitem(last=False)
        return known[1]

    def _range(self, key: str, entry: Archived, start: int, end: int) -> bytes:
        if end - start > _BLOCK:
            return self._objects.read(key, start, end)
        first = start // _BLOCK
        parts = [self._block(key, entry, number) for number in range(first, (end - 1) // _BLOCK + 1)]
        return b"".join(parts)[start - first * _BLOCK : end - first * _BLOCK]

    def _block(self, key: str, entry: Archived, number: int) -> bytes:
        place = (key, entry.sha256, number)
        with self._lock:
            known = self._blocks.get(place)
            if known is not None:
                self._blocks.move_to_end(place)
                return known
        data = self._objects.read(key, number * _BLOCK, min((number + 1) * _BLOCK, entry.size))
        with self._lock:
            self._blocks[place] = data
            while len(self._blocks) > _BLOCKS:
                self._blocks.popitem(last=False)
        return data


# -- coming back, and going ---------------------------------------------------------------------------------------


def bring_back(objects: Objects, run: str, store: Path, smallest: int = SMALLEST) -> Manifest:
    """Make the folder of a run again from the store alone: small files whole, large ones hollow."""
    key = f"{run}/{KEY}"
    found = objects.stat(key)
    if found is None or not is_run_id(run):
        raise BadData(f"{objects.name} has no complete run {run}")
    data = objects.read(key, 0, found.size)
    manifest = _manifest(data, run)
    folder = store / run
    make_store(store)
    make_folder(folder, exist_ok=True)
    write_file(folder / MANIFEST, data)
    for name, entry in manifest.files.items():
        path = folder / check_name(name)
        if path.exists():
            continue
        _make_parents(path.parent, folder)
        if entry.size >= smallest:
            _make_hollow(path, entry)
            continue
        content = objects.read(f"{run}/{name}", 0, entry.size) if entry.size else b""
        if hashlib.sha256(content).hexdigest() != entry.sha256:
            raise BadData(f"{objects.name}/{run}/{name} does not have the SHA-256 {entry.sha256} of its manifest")
        write_file(path, content)
        os.utime(path, ns=(entry.mtime_ns, entry.mtime_ns))
    sync_folder(folder)
    return manifest


def forget(objects: Objects, run: str) -> int:
    """Remove all objects of a run, its manifest first; how many."""
    keys = list(objects.keys(f"{run}/"))
    for key in sorted(keys, key=lambda key: key != f"{run}/{KEY}"):
        objects.delete(key)
    return len(keys)


def _make_parents(folder: Path, top: Path) -> None:
    if folder != top and not folder.exists():
        _make_parents(folder.parent, top)
        make_folder(folder, exist_ok=True)
