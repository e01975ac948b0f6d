"""Store files and folders with a run, named and versioned: `run.log_artifact("checkpoints/best.pt")`.

Files are copied into the run's blobs while they are hashed (a hard link would change with the original), each content
once. Versions count from 0 for each name within the run, over its attempts; logging the same content again keeps its
version. Log an artifact from one rank only: two processes that log one name at once may both take a number.
"""

from __future__ import annotations

import hashlib
import mimetypes
import os
import stat
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from stepscope.common import clocks
from stepscope.errors import UsageError
from stepscope.files.opening import open_file
from stepscope.records import Artifact, ArtifactFile
from stepscope.runs.artifacts import Process, check_inner_path, digest_of, read_artifacts
from stepscope.runs.format import blobs, writer_identity
from stepscope.track.config import masked
from stepscope.track.messages import say_once
from stepscope.track.secrets import mask_text

if TYPE_CHECKING:
    from stepscope.runs.write.writer import RunWriter

MAX_BYTES = 20 << 30
MAX_FILES = 100_000
_MOST_NAMED = 20
_CHUNK = 1 << 20

_lock = threading.Lock()
_versions: dict[Path, dict[str, dict[str, int]]] = {}
"""For each run folder and name: the version of each digest that this process has seen or created."""


class Noted(str):
    """A file that is only referenced, such as a URL: its content is neither fetched nor copied."""


def log_artifact(
    writer: RunWriter,
    source: Any,
    name: str | None = None,
    type: str = "file",
    aliases: str | Sequence[str] = (),
    metadata: Mapping[str, Any] | None = None,
    reference: bool = False,
    *,
    step: int | None = None,
    max_bytes: int = MAX_BYTES,
) -> Artifact:
    """Store a file, a folder, or a dict of inner paths to files or bytes, as an artifact; returns its record.

    With `reference=True` files are hashed and their location is recorded, but they are not copied. Symbolic links
    that lead out of a folder, and anything but plain files, are skipped and listed in the metadata.
    """
    found = _found(source, reference)
    chosen = _name(name, source)
    _check_size(found, max_bytes, copied=not reference)
    files = [_kept(writer, piece, reference) for piece in found.pieces]
    digest = digest_of(files)
    notes = masked(dict(metadata or {}))
    if found.skipped:
        notes["skipped"] = found.skipped[:_MOST_NAMED]
        say_once(
            ("artifact", chosen),
            f"{len(found.skipped)} entries of artifact '{chosen}' were skipped: {found.skipped[0]}",
        )
    artifact = Artifact(
        time=clocks.time(),
        name=chosen,
        type=mask_text(str(type)),
        version=_version(writer, chosen, digest),
        digest=digest,
        files=files,
        aliases=[aliases] if isinstance(aliases, str) else [str(alias) for alias in aliases],
        metadata=notes,
        step=step,
    )
    writer.event(artifact)
    return artifact


class _Piece(NamedTuple):
    """One file to store: its path inside the artifact, and its content."""

    inner: str
    source: Path | bytes | str
    """A path, the bytes themselves, or a URL."""


class _Found(NamedTuple):
    pieces: list[_Piece]
    skipped: list[str]


def _found(source: Any, reference: bool) -> _Found:
    if isinstance(source, Mapping):
        return _from_mapping(source)
    if isinstance(source, str) and "://" in source:
        if not reference:
            raise UsageError(f"'{source}' is a URL, which is not fetched; pass reference=True to record it")
        inner = source.rstrip("/").rpartition("/")[2].replace("\\", "-").replace(":", "-")
        return _Found([_Piece(inner if inner not in ("", ".", "..") else "url", source)], [])
    if not isinstance(source, (str, os.PathLike)):
        raise UsageError(
            f"an artifact cannot be made from a {type(source).__name__}; expected a path, or a dict of inner paths to "
            "files or bytes"
        )
    path = Path(source)
    if path.is_dir():
        return _from_folder(path)
    return _Found([_Piece(path.name, _plain_file(path))], [])


def _from_mapping(source: Mapping[Any, Any]) -> _Found:
    pieces = []
    for inner, content in source.items():
        check_inner_path(str(inner))
        if isinstance(content, (bytes, bytearray, memoryview)):
            pieces.append(_Piece(str(inner), bytes(content)))
        elif isinstance(content, Noted):
            pieces.append(_Piece(str(inner), str(content)))
        elif isinstance(content, (str, os.PathLike)):
            pieces.append(_Piece(str(inner), _plain_file(Path(content))))
        else:
            raise UsageError(
                f"'{inner}' of the artifact is a {type(content).__name__}; expected the path of a file, or bytes"
            )
    if not pieces:
        raise UsageError("an artifact of an empty dict; give at least one file")
    return _Found(pieces, [])


def _plain_file(path: Path) -> Path:
    """The path itself, if it is a plain file: a device or a pipe could be read forever."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as fault:
        reason = "there is no such file" if isinstance(fault, FileNotFoundError) else str(fault)
        raise UsageError(f"'{path}' cannot be stored as an artifact: {reason}; check the path") from None
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a device, pipe or socket"
        raise UsageError(f"'{path}' cannot be stored as an artifact: it is {kind}; expected a plain file")
    return path


def _from_folder(folder: Path) -> _Found:
    root = folder.resolve()
    pieces: list[_Piece] = []
    skipped: list[str] = []
    for entry in _walk(root, skipped):
        inner = entry.relative_to(root).as_posix()
        if len(pieces) >= MAX_FILES:
            raise UsageError(f"folder '{folder}' has more than {MAX_FILES:,} files; pack them, or log fewer")
        try:
            inner.encode()
            check_inner_path(inner)
        except (UsageError, UnicodeEncodeError):
            skipped.append(f"{os.fsencode(inner)!r} (a name that is not portable)")
            continue
        pieces.append(_Piece(inner, entry))
    if not pieces:
        raise UsageError(f"folder '{folder}' has no files to store; give a folder with something in it")
    return _Found(pieces, skipped)


def _walk(root: Path, skipped: list[str]) -> Iterator[Path]:
    """Plain files below `root`, by name; what is skipped is recorded with the reason."""
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as fault:
            skipped.append(f"{folder.relative_to(root).as_posix()} ({fault.strerror})")
            continue
        for entry in listed:
            path = Path(entry.path)
            inner = os.fsencode(path.relative_to(root)).decode(errors="replace")
            if entry.is_symlink():
                target = path.resolve()
                if not target.is_relative_to(root):
                    skipped.append(f"{inner} (a symbolic link that leads out of the folder)")
                elif target.is_file():
                    yield path
                else:
                    skipped.append(f"{inner} (a symbolic link to no file)")
            elif entry.is_dir(follow_symlinks=False):
                folders.append(path)
            elif entry.is_file(follow_symlinks=False):
                yield path
            else:
                skipped.append(f"{inner} (a device, pipe or socket)")


def _check_size(found: _Found, max_bytes: int, copied: bool) -> None:
    total = 0
    for _inner, source in found.pieces:
        total += len(source) if isinstance(source, bytes) else source.stat().st_size if isinstance(source, Path) else 0
    if copied and total > max_bytes:
        raise UsageError(
            f"the artifact has {total:,} bytes, more than the {max_bytes:,} that are copied into a "
            "run; pass max_bytes= to allow it, or reference=True to record where the files are"
        )


def described(inner: str, source: Path | bytes | str) -> ArtifactFile:
    """What would be recorded of a file or a location; nothing is stored."""
    mime = _mime(inner)
    if isinstance(source, str):
        return ArtifactFile(path=inner, sha256="", size=0, mime=mime, reference=mask_text(source))
    if isinstance(source, bytes):
        return ArtifactFile(path=inner, sha256=hashlib.sha256(source).hexdigest(), size=len(source), mime=mime)
    sha256, size = _hashed(source)
    return ArtifactFile(path=inner, sha256=sha256, size=size, mime=mime, reference=str(source.resolve()))


def _kept(writer: RunWriter, piece: _Piece, reference: bool) -> ArtifactFile:
    inner, source = piece.inner, piece.source
    if isinstance(source, bytes):
        blobs.put_bytes(writer.path, source)
    elif isinstance(source, Path) and not reference:
        sha256, size = writer.blob_file(source)
        return ArtifactFile(path=inner, sha256=sha256, size=size, mime=_mime(inner))
    return described(inner, source)


def _mime(inner: str) -> str:
    return mimetypes.guess_type(inner)[0] or "application/octet-stream"


def _hashed(path: Path) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with open_file(path) as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return digest.hexdigest(), size


def _name(name: str | None, source: Any) -> str:
    if name is None:
        if isinstance(source, Mapping):
            raise UsageError("an artifact made from a dict needs a name, for example log_artifact({...}, name='model')")
        name = str(source).rstrip("/").rpartition("/")[2] if "://" in str(source) else Path(source).resolve().name
    text = mask_text(str(name).encode("utf-8", errors="replace").decode()).strip()
    if not text or len(text) > 200 or ":" in text or any(not letter.isprintable() for letter in text):
        raise UsageError(
            f"{text[:80]!r} cannot be an artifact's name; expected 1 to 200 printable characters "
            "without ':' (which separates name and version)"
        )
    return text


def _version(writer: RunWriter, name: str, digest: str) -> int:
    """The version of this content, or the next one. Earlier versions by other processes are read once.

    The logs of this process are not read: they may be large, and their artifacts are already known.
    """
    with _lock:
        known = _versions.get(writer.path)
        if known is None:
            known = _versions[writer.path] = {}
            me = Process(writer_identity.host_name(), os.getpid(), writer_identity.boot_id())
            for artifact in read_artifacts(writer.path, but_of=me):
                known.setdefault(artifact.name, {})[artifact.digest] = artifact.version
        versions = known.setdefault(name, {})
        return versions.setdefault(digest, max(versions.values(), default=-1) + 1)
