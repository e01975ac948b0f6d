"""Read artifacts back: list them, resolve a version, and write their files out safely.

Versions count from 0 for each name within a run. The same content has the same digest in every run, so a project's
history of a name is its runs' artifacts by time, each digest once: `history`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple, Protocol

import msgspec

from stepscope.errors import BadData, NotFound, StorageError, UsageError
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import open_file, read_window
from stepscope.records import Artifact, ArtifactFile, FileHeader
from stepscope.runs.format.blobs import blob_path
from stepscope.runs.format.frames import Kind, decode_at
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import COMPACT, log_files
from stepscope.runs.read.logs import LogReader

_CHUNK = 1 << 20
_LARGEST_HEADER = 64 << 10
_LONGEST_PATH = 1024


# Created at import, not on first use: if two threads create one at the same time, msgspec (0.22) kills the process.
_header_decoder = msgspec.msgpack.Decoder(FileHeader)


class HasPath(Protocol):
    """Anything with a run folder."""

    @property
    def path(self) -> Path: ...


class Process(NamedTuple):
    """A process that writes logs."""

    host: str
    pid: int
    boot_id: str


def digest_of(files: Iterable[ArtifactFile]) -> str:
    """One hash over file names and contents, independent of order."""
    lines = sorted(f"{file.path}\0{file.sha256 or file.reference}\n" for file in files)
    return hashlib.sha256("".join(lines).encode("utf-8", errors="surrogatepass")).hexdigest()


def read_artifacts(run: Path, *, but_of: Process | None = None) -> list[Artifact]:
    """All artifacts of a run, oldest first; `but_of` excludes one process's logs."""
    found: dict[tuple[float, str, str], Artifact] = {}
    logs = [(path, False) for path in log_files(run)] + [(path, True) for path in log_files(run / COMPACT)]
    for path, sections in logs:
        if ".media." in path.name or (but_of is not None and not sections and _process(path) == but_of):
            continue
        for batch in LogReader(path, sections=sections, within=run).poll():
            for _seq, event in batch.events:
                if isinstance(event, Artifact):
                    found[event.time, event.name, event.digest] = event
    return sorted(found.values(), key=lambda artifact: artifact.time)


def _process(path: Path) -> Process | None:
    """The writer of a log, from its first frame only: the rest may be large."""
    try:
        with open_file(path, within=path.parent) as stream:
            frame = decode_at(memoryview(read_window(stream, 0, _LARGEST_HEADER)), 0)
        if frame is None or frame.kind != Kind.HEADER:
            return None
        header = _header_decoder.decode(frame.payload)
    except (OSError, *MALFORMED):
        return None
    return Process(header.host, header.pid, header.boot_id)


def choose(artifacts: Sequence[Artifact], wanted: str) -> Artifact:
    """The artifact that `name`, `name:v3`, `name:latest` or `name:alias` means.

    An alias refers to the newest artifact it was assigned to.
    """
    name, _, tag = wanted.rpartition(":") if ":" in wanted else (wanted, "", "latest")
    named = [artifact for artifact in artifacts if artifact.name == name]
    if not named:
        known = ", ".join(sorted({artifact.name for artifact in artifacts})) or "none"
        raise NotFound(f"there is no artifact '{name}'; there are: {known}")
    if tag == "latest":
        return named[-1]
    matching = [artifact for artifact in named if tag in _tags_of(artifact)]
    if not matching:
        tags = set().union(*map(_tags_of, named))
        raise NotFound(f"artifact '{name}' has no version or alias '{tag}'; it has latest, {', '.join(sorted(tags))}")
    return matching[-1]


def _tags_of(artifact: Artifact) -> set[str]:
    return {f"v{artifact.version}", *artifact.aliases}


def history(artifacts: Iterable[Artifact], name: str) -> list[Artifact]:
    """The distinct contents of a name, oldest first; across runs, the index in this list is the version."""
    seen: dict[str, Artifact] = {}
    for artifact in sorted(artifacts, key=lambda artifact: artifact.time):
        if artifact.name == name:
            seen.setdefault(artifact.digest, artifact)
    return list(seen.values())


def check_inner_path(path: str) -> PurePosixPath:
    """Check a path inside an artifact: relative, without `..`, with no platform-specific escape."""
    parts = path.split("/")
    bad = not path or len(path) > _LONGEST_PATH or any(part in ("", ".", "..") for part in parts)
    if bad or "\\" in path or "\0" in path or (len(parts[0]) > 1 and parts[0][1] == ":"):
        raise UsageError(
            f"{path[:80]!r} cannot be the path of a file in an artifact; expected one like 'weights/model.pt', "
            "relative and without '..', backslashes or drive letters"
        )
    return PurePosixPath(path)


def restore(
    run: Path | HasPath, artifact: Artifact, dest: str | os.PathLike[str], *, overwrite: bool = False
) -> list[Path]:
    """Write an artifact's files under `dest`, each checked against its hash; returns the written paths.

    `run` is a run as `stepscope.run(...)` gives it, or its folder.
    Nothing is ever written outside `dest`, whatever the record contains. References are not fetched and are not
    in the result.
    """
    root = Path(dest)
    try:
        root.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise UsageError(f"'{root}' is a file; choose a folder to write to") from None
    except OSError as fault:
        raise StorageError(f"cannot write to '{root}': {fault.strerror or fault}; choose another dest") from None
    root = root.resolve()
    folder = run if isinstance(run, Path) else Path(run.path)
    written = []
    for file in artifact.files:
        if file.reference is not None:
            continue
        try:
            target = root / check_inner_path(file.path)
        except UsageError as fault:
            raise BadData(f"artifact '{artifact.name}' has an unsafe record: {fault}") from None
        source = blob_path(folder, file.sha256)
        _write_out(folder, source, target, root, file, overwrite)
        written.append(target)
    return written


def _write_out(run: Path, source: Path, target: Path, root: Path, file: ArtifactFile, overwrite: bool) -> None:
    folder = target.parent
    if not folder.resolve().is_relative_to(root):  # before any folder is created
        raise BadData(f"'{target}' leads out of '{root}' through a symbolic link; choose an empty dest")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise UsageError(f"'{folder}' is a file where a folder is needed; choose another dest") from None
    if not overwrite and os.path.lexists(target):
        raise UsageError(f"'{target}' exists already; choose another dest, or overwrite=True")
    try:
        stream = open_file(source, within=run)
    except FileNotFoundError:
        raise NotFound(
            f"the content of '{file.path}' is missing: there is no blob {file.sha256}; restore the "
            "run folder from a backup"
        ) from None
    temporary = target.with_name(f".{new_run_id()}.tmp")
    try:
        with stream, open(temporary, "xb") as out:
            found = _copy(stream, out)
        if found != file.sha256:
            raise BadData(f"blob {file.sha256} of '{file.path}' is damaged: its content has the hash {found}")
        os.replace(temporary, target)
    except IsADirectoryError:
        raise UsageError(f"'{target}' is a folder; choose another dest") from None
    finally:
        temporary.unlink(missing_ok=True)


def _copy(stream: BinaryIO, out: BinaryIO) -> str:
    digest = hashlib.sha256()
    while chunk := stream.read(_CHUNK):
        digest.update(chunk)
        out.write(chunk)
    return digest.hexdigest()
