"""Compare the copies of a server with each other: what is on its disk, in its object store and in its database."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from stepscope.errors import StepscopeError
from stepscope.files.elsewhere import is_hollow
from stepscope.files.listing import plain_files
from stepscope.files.opening import open_file, read_file
from stepscope.runs.format.frames import Hole, scan
from stepscope.runs.format.ids import is_run_id
from stepscope.runs.format.layout import BLOBS, META, run_folders
from stepscope.runs.format.sealed import seal_of
from stepscope.runs.trash import TRASH
from stepscope.sync.archive import KEY, Archived, Manifest, manifest_of
from stepscope.sync.fates import Fates
from stepscope.sync.objects import Objects

_CHUNK = 1 << 20
_LARGEST_LOG = 1 << 30


@dataclass
class Verified:
    runs: int = 0
    files: int = 0
    objects: int = 0
    problems: dict[str, str] = field(default_factory=dict)
    """What is wrong, by `run/file`."""
    orphans: list[str] = field(default_factory=list)
    """Runs that only the object store has: `stepscope server restore` brings them back."""


def verify(
    store: Path,
    objects: Objects | None,
    *,
    deep: bool = False,
    known: Iterable[str] = (),
    tell: Callable[[int, str], None] = lambda count, run: None,
) -> Verified:
    """Check every run. `deep` reads all bytes of objects too; else they are asked for their size and hash.

    `known` are the runs of the database: each must be on the disk, in the trash or in the object store.
    """
    found = Verified()
    for run in _every(store):
        tell(found.runs, run.name)
        found.runs += 1
        for name, problem in _run(run, objects, deep, found):
            found.problems[f"{run.name}/{name}"] = problem
    here = {run.name for run in _every(store)}
    if objects is not None:
        ended = f"/{KEY}"
        there = {key.removesuffix(ended) for key in objects.keys("") if key.endswith(ended)}
        found.orphans = sorted(run for run in there - here if is_run_id(run))
    for lost in sorted(set(known) - here - set(found.orphans) - Fates(store).every().keys()):
        found.problems[lost] = "the database knows this run, and its files are gone; sync it again from where it ran"
    return found


def _every(store: Path) -> list[Path]:
    return [*run_folders(store), *run_folders(store / TRASH)]


def _run(run: Path, objects: Objects | None, deep: bool, found: Verified) -> Iterator[tuple[str, str]]:
    try:
        manifest = manifest_of(run)
    except (StepscopeError, OSError) as fault:
        yield META, str(fault)
        return
    files = manifest.files if manifest is not None else {}
    present = set()
    for path in plain_files(run, enter=lambda folder: not folder.name.startswith(".")):
        name = path.relative_to(run).as_posix()
        if path.name.startswith("."):
            continue
        present.add(name)
        found.files += 1
        try:
            problem = _file(path, run, name, files.get(name))
        except OSError as fault:
            problem = str(fault)
        if problem is not None:
            yield name, problem
    if manifest is not None:
        yield from _objects(manifest, objects, present, deep, found)


def _file(path: Path, run: Path, name: str, entry: Archived | None) -> str | None:
    """What is wrong with a file on the disk, or None."""
    size = path.lstat().st_size
    if is_hollow(path.lstat()):
        if entry is None:
            return None if size < _CHUNK else "it has no bytes on the disk, and the manifest does not name it"
        return None if entry.size == size else f"it holds the place of {size} bytes; the manifest says {entry.size}"
    if path.parent.name == BLOBS and (digest := _hash(path, run)) != path.name:
        return f"it has the SHA-256 {digest}; expected its name"
    if name == META and seal_of(read_file(path, _LARGEST_LOG, within=run)) == "damaged":
        return "it does not match its checksum"
    if name.endswith(".log"):
        holes = [one for one in scan(read_file(path, _LARGEST_LOG, within=run)) if isinstance(one, Hole)]
        return (
            f"{len(holes)} damaged place{'s'[: len(holes) != 1]}, the first at byte {holes[0].start}" if holes else None
        )
    return None


def _objects(
    manifest: Manifest, objects: Objects | None, present: set[str], deep: bool, found: Verified
) -> Iterator[tuple[str, str]]:
    if objects is None:
        yield "", f"it is in {manifest.store}; give --objects to check it"
        return
    for name, entry in manifest.files.items():
        found.objects += 1
        key = f"{manifest.run}/{name}"
        try:
            there = objects.stat(key)
            if there is None:
                yield name, f"{objects.name} does not have it" + ("" if name in present else ", nor does the disk")
            elif there.size != entry.size or (there.sha256 or entry.sha256) != entry.sha256:
                yield name, f"{objects.name} has {there.size} bytes of it with the SHA-256 {there.sha256[:12]}…"
            elif deep and _object_hash(objects, key, entry.size) != entry.sha256:
                yield name, f"its bytes in {objects.name} do not have the SHA-256 {entry.sha256[:12]}… any more"
        except OSError as fault:
            yield name, str(fault)


def _hash(path: Path, run: Path) -> str:
    digest = hashlib.sha256()
    with open_file(path, within=run) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _object_hash(objects: Objects, key: str, size: int) -> str:
    digest = hashlib.sha256()
    for start in range(0, size, 8 * _CHUNK):
        digest.update(objects.read(key, start, min(size, start + 8 * _CHUNK)))
    return digest.hexdigest()
