"""The *Files* of a run: its artifacts by version, its saved steps, and its own folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from stepscope.errors import StepscopeError
from stepscope.files.decoding import MALFORMED
from stepscope.records import Artifact, ArtifactFile, FileHeader
from stepscope.runs.format.layout import BLOBS, COMPACT
from stepscope.runs.read.folder import RunFolder
from stepscope.views.context import Context
from stepscope.views.files.artifacts import version_of
from stepscope.views.plain import plain
from stepscope.views.route import route

MAX_VERSIONS = 2000
MAX_OWN = 500
MAX_WALKED = 20_000
MAX_LISTED = 2000
_MANIFEST = "capsule.json"
_ROLES = {
    "run": "training",
    "worker": "a child process",
    "system": "machine metrics",
    "edit": "edits",
    "node": "ranks of a node",
}
_MAX_MANIFEST = 4 << 20


class FilesRequest(msgspec.Struct):
    run: str


class ArtifactVersion(msgspec.Struct):
    version: int
    digest: str
    time: float
    files: int
    bytes: int
    references: int
    """Files that were only referenced, not copied."""
    step: int | None
    aliases: list[str]
    metadata: dict[str, Any]
    times: int = 1
    """How often it was logged; equal content keeps its version."""


class ArtifactName(msgspec.Struct):
    name: str
    type: str
    versions: list[ArtifactVersion]
    """Newest first."""


class SavedStep(msgspec.Struct):
    """A capsule: a failed step, saved so that it can be repeated."""

    name: str
    version: int
    step: int
    rank: int
    why: str
    """error, loss or gradient"""
    time: float
    bytes: int
    said: str = ""
    """The error, or the loss, in one line."""
    missing: list[str] = []
    """What a replay will lack."""
    problem: str = ""
    """Why the capsule cannot be read."""


class OwnFile(msgspec.Struct):
    """A file or folder of the run's own."""

    name: str
    kind: Literal["about", "log", "media", "compacted", "blobs", "folder", "other"]
    bytes: int
    files: int = 1
    modified: float = 0.0
    about: str = ""
    """Its writer."""
    damage: str = ""


class RunFiles(msgspec.Struct):
    path: str
    artifacts: list[ArtifactName]
    saved_steps: list[SavedStep]
    own: list[OwnFile]
    bytes: int
    """Size of the whole folder, as far as it was walked."""
    damage: list[str]
    omitted: int = 0
    """Number of versions not listed."""


@route("POST", "/api/files")
def files(ctx: Context, request: FilesRequest) -> RunFiles:
    """Everything the run has stored in files."""
    folder = ctx.runs.get(request.run)
    artifacts = folder.artifacts
    kept = [one for one in artifacts if one.type != "capsule"]
    own = _own_files(folder)
    return RunFiles(
        path=str(folder.path),
        artifacts=_names(kept[-MAX_VERSIONS:]),
        saved_steps=[_saved(folder, one) for one in artifacts if one.type == "capsule"][-MAX_LISTED:],
        own=own[:MAX_OWN],
        bytes=sum(one.bytes for one in own),
        damage=_damage(folder),
        omitted=max(0, len(kept) - MAX_VERSIONS),
    )


def _names(artifacts: Iterable[Artifact]) -> list[ArtifactName]:
    """By name, most recently logged first; a version logged again appears once, with its newest aliases."""
    found: dict[str, dict[tuple[int, str], ArtifactVersion]] = {}
    types: dict[str, str] = {}
    for one in artifacts:
        versions = found.pop(one.name, {})
        found[one.name] = versions
        types[one.name] = one.type
        fresh = _version(one)
        before = versions.pop((one.version, one.digest), None)
        if before is not None:
            fresh.times = before.times + 1
            fresh.aliases = list(dict.fromkeys([*before.aliases, *fresh.aliases]))
        for alias in fresh.aliases:  # an alias refers to the newest artifact it was assigned to
            for other in versions.values():
                if alias in other.aliases:
                    other.aliases.remove(alias)
        versions[one.version, one.digest] = fresh
    return [
        ArtifactName(name, types[name], sorted(versions.values(), key=lambda one: -one.version))
        for name, versions in reversed(found.items())
    ]


def _version(one: Artifact) -> ArtifactVersion:
    return ArtifactVersion(
        version=one.version,
        digest=one.digest,
        time=one.time,
        files=len(one.files),
        bytes=sum(file.size for file in one.files),
        references=sum(file.reference is not None for file in one.files),
        step=one.step,
        aliases=list(one.aliases),
        metadata=plain(one.metadata),
    )


class _Manifest(msgspec.Struct):
    """What the page shows of a capsule; `stepscope replay` reads all of it."""

    error: str = ""
    loss: str = ""
    grad_norm: str = ""
    missing: list[str] = []


# Created at import, not on first use: if two threads create one at the same time, msgspec (0.22) kills the process.
_manifest_decoder = msgspec.json.Decoder(_Manifest)


def _saved(folder: RunFolder, one: Artifact) -> SavedStep:
    notes = one.metadata
    saved = SavedStep(
        name=one.name,
        version=one.version,
        step=_number(notes.get("step")),
        rank=_number(notes.get("rank")),
        why=str(notes.get("why", "")),
        time=one.time,
        bytes=sum(file.size for file in one.files),
    )
    described = next((file for file in one.files if file.path == _MANIFEST), None)
    if described is None or described.size > _MAX_MANIFEST:
        saved.problem = "it has no capsule.json" if described is None else "its capsule.json is too large to be shown"
        return saved
    try:
        told = _manifest_decoder.decode(folder.media_bytes(described.sha256))
    except (StepscopeError, *MALFORMED) as fault:
        saved.problem = str(fault)
        return saved
    values = [("loss", _hex(told.loss)), ("gradient norm", _hex(told.grad_norm))]
    saved.said = told.error or ", ".join(f"{name} {value}" for name, value in values if value)
    saved.missing = told.missing[:20]
    return saved


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _hex(text: str) -> str:
    """A capsule's float, formatted for people."""
    try:
        return f"{float.fromhex(text):.6g}" if text else ""
    except (ValueError, OverflowError):
        return ""


def _own_files(folder: RunFolder) -> list[OwnFile]:
    """The contents of the run folder: logs one by one, folders summed up."""
    writers = {header.file_id.partition(".")[0]: header for header in folder.files}
    holes: dict[str, list[str]] = {}
    for path, hole in folder.damage.places:
        inside = path.parent != folder.path  # a compacted file: its folder represents it
        words = f"{path.name}: " if inside else ""
        holes.setdefault(path.parent.name if inside else path.name, []).append(
            f"{words}bytes {hole.start:,} to {hole.end:,} cannot be read"
        )
    found = []
    for entry in _entries(folder.path):
        try:
            stat = entry.stat(follow_symlinks=False)
            inside = entry.is_dir(follow_symlinks=False)
        except OSError:  # compacted or removed meanwhile
            continue
        count, size = _walked(Path(entry.path)) if inside else (1, stat.st_size)
        found.append(
            OwnFile(
                name=entry.name,
                kind=_kind(entry.name, inside),
                bytes=size,
                files=count,
                modified=stat.st_mtime,
                about=_writer(entry.name, writers),
                damage="; ".join(holes.get(entry.name, [])[:5]),
            )
        )
    order = ("about", "log", "media", "compacted", "blobs", "folder", "other")
    return sorted(found, key=lambda one: (order.index(one.kind), one.name))


def _writer(name: str, writers: Mapping[str, FileHeader]) -> str:
    """The writer of a log, by the id in its name."""
    parts = name.split(".")
    header = writers.get(parts[-4]) if len(parts) > 4 else None
    if header is None:
        return ""
    attempt = f", attempt {header.attempt + 1}" if header.attempt else ""
    return f"{_ROLES[header.role]}, rank {header.rank}{attempt}, pid {header.pid} on {header.host}"


def _entries(path: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return sorted(entries, key=lambda entry: entry.name)[:MAX_WALKED]
    except OSError:
        return []


def _walked(path: Path) -> tuple[int, int]:
    """The number and size of a folder's files, up to a limit that no run normally reaches."""
    count = size = 0
    for root, _folders, names in os.walk(path):
        for name in names:
            try:
                size += os.lstat(os.path.join(root, name)).st_size
            except OSError:
                continue
            count += 1
            if count >= MAX_WALKED:
                return count, size
    return count, size


def _kind(name: str, inside: bool) -> Literal["about", "log", "media", "compacted", "blobs", "folder", "other"]:
    if inside:
        return "blobs" if name == BLOBS else "compacted" if name == COMPACT else "folder"
    if name == "meta.json":
        return "about"
    if name.endswith(".log"):
        return "media" if ".media." in name else "log"
    return "other"


def _damage(folder: RunFolder) -> list[str]:
    """What is wrong with the files, in words; traces of a killed process do not count."""
    damage = folder.damage
    said = [
        (damage.holes, "damaged stretch", "damaged stretches", "their content is lost, the rest is intact"),
        (
            damage.missing_frames,
            "missing record",
            "missing records",
            "the sequence numbers show that they were written",
        ),
        (damage.nameless_rows, "row without names", "rows without names", "their names were in a damaged frame"),
        (damage.unreadable_frames, "unreadable record", "unreadable records", "they cannot be interpreted"),
        (
            damage.unknown_frames,
            "unknown record",
            "unknown records",
            "from a newer Stepscope: pip install -U stepscope",
        ),
    ]
    told = [f"{count:,} {one if count == 1 else many}: {words}" for count, one, many, words in said if count]
    return told + list(damage.errors[:20])


# -- what changed between two versions ------------------------------------------------------------------------------


class ArtifactDiffRequest(msgspec.Struct):
    run: str
    name: str
    version: int
    """The newer one."""
    against: int


class FileChange(msgspec.Struct):
    path: str
    kind: Literal["added", "removed", "changed"]
    before: int | None = None
    after: int | None = None
    """Sizes."""


class ArtifactDiff(msgspec.Struct):
    added: int
    removed: int
    changed: int
    same: int
    changes: list[FileChange]
    """By path; only the first ones if there are very many."""
    metadata: list[tuple[str, Any, Any]]
    """Metadata differences: name, before, after."""


@route("POST", "/api/artifact/diff")
def artifact_diff(ctx: Context, request: ArtifactDiffRequest) -> ArtifactDiff:
    """The files that differ between two versions of an artifact."""
    folder = ctx.runs.get(request.run)
    new, old = (version_of(folder, request.name, number) for number in (request.version, request.against))
    before, after = ({file.path: file for file in one.files} for one in (old, new))
    changes = [
        change
        for path in sorted({*before, *after})
        if (change := _change(path, before.get(path), after.get(path))) is not None
    ]
    count = {kind: sum(one.kind == kind for one in changes) for kind in ("added", "removed", "changed")}
    was, now = plain(old.metadata), plain(new.metadata)
    return ArtifactDiff(
        **count,
        same=len({*before} & {*after}) - count["changed"],
        changes=changes[:MAX_LISTED],
        metadata=[(key, was.get(key), now.get(key)) for key in sorted({*was, *now}) if was.get(key) != now.get(key)],
    )


def _change(path: str, before: ArtifactFile | None, after: ArtifactFile | None) -> FileChange | None:
    if before is None or after is None:
        kind: Literal["added", "removed"] = "added" if before is None else "removed"
        sizes = [None if one is None else one.size for one in (before, after)]
        return FileChange(path, kind, *sizes)
    if (before.sha256 or before.reference) == (after.sha256 or after.reference):
        return None
    return FileChange(path, "changed", before.size, after.size)
