"""Use an artifact as an input: `model = run.use_artifact("model:best")`, from this machine's runs or a team's server.

The newer of both counts. Files are fetched by their hash into the user's cache or a given folder, and an interrupted
download resumes. Unlike logging this may raise: a script cannot continue without its input.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepscope.errors import Forbidden, NotFound, StepscopeError, UsageError
from stepscope.records import Artifact, ArtifactFile
from stepscope.runs.artifact_lookup import find
from stepscope.runs.artifacts import check_inner_path, restore
from stepscope.runs.catalogue.index import cache_folder
from stepscope.runs.format.blobs import blob_path
from stepscope.sync.artifacts import download
from stepscope.sync.remote import Remote, RemoteArtifact, Unreachable
from stepscope.sync.servers import login_for
from stepscope.track.messages import say_once


@dataclass(frozen=True)
class UsedArtifact:
    """An artifact with its files on disk."""

    name: str
    version: int
    """Its version among all contents that its project has logged under this name."""
    type: str
    digest: str
    aliases: list[str]
    metadata: dict[str, Any]
    path: Path
    """The folder that its files are in."""
    files: list[ArtifactFile]
    run: str
    """The id of the run that logged it."""
    run_version: int
    """Its version in that run."""

    @property
    def file(self) -> Path:
        """Its file, if it has exactly one."""
        if len(self.files) != 1:
            raise UsageError(f"artifact '{self.name}' has {len(self.files)} files; find them in its path {self.path}")
        return self.path / self.files[0].path

    def __fspath__(self) -> str:
        return os.fspath(self.path)


def fetch_artifact(
    wanted: str, store: Path, project: str, dest: str | os.PathLike[str] | None = None, server: str | None = None
) -> UsedArtifact:
    """The artifact that `name`, `name:v2`, `name:best` or `project/name:best` refers to, with its files in a folder."""
    here = _here(wanted, store, project)
    there, remote, why = _there(wanted, project, server)
    try:
        if here is not None and (there is None or _is_newer(here, there, wanted)):
            if why is not None:
                say_once(("use_artifact", wanted), f"{why}; '{wanted}' is taken from this machine's runs")
            return _from_here(here, dest)
        if there is not None and remote is not None:
            return _from_server(there, remote, dest)
    finally:
        if remote is not None:
            remote.close()
    missing = f"artifact '{wanted}' was not found in project '{project}' of {store}"
    if why is not None:
        raise NotFound(f"{missing}, and {why}")
    raise NotFound(f"{missing}; `stepscope login URL` lets runs use those of a server")


@dataclass(frozen=True)
class _Here:
    run: Path
    record: Artifact
    version: int


def _here(wanted: str, store: Path, project: str) -> _Here | None:
    try:
        kept, version = find(store, wanted, project)
    except NotFound:
        return None
    return _Here(kept.run, kept.record, version)


def _there(wanted: str, project: str, server: str | None) -> tuple[RemoteArtifact | None, Remote | None, str | None]:
    """What the server has, or why it has nothing."""
    remote = _remote(server)
    if remote is None:
        return None, None, None
    try:
        return remote.artifact(wanted, project), remote, None
    except (NotFound, Unreachable, Forbidden) as fault:
        remote.close()
        return None, None, str(fault)


def _remote(server: str | None) -> Remote | None:
    """The given server, or the one the user is logged in to."""
    login = login_for(server)
    url = server or (login.url if login is not None else "")
    if not url:
        return None
    token = os.environ.get("STEPSCOPE_TOKEN") or (login.token if login is not None else "")
    if not token:
        raise Forbidden(f"no token for {url}; run `stepscope login {url}`, or set STEPSCOPE_TOKEN")
    return Remote(url, token)


def fetch_from(server: str, project: str, wanted: str, dest: Path | None = None) -> UsedArtifact:
    """An artifact from a server alone, in a folder named after it."""
    remote = _remote(server)
    assert remote is not None
    with remote:
        found = remote.artifact(wanted, project)
        name = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in found.name).strip(".")
        return _from_server(found, remote, dest or Path(f"{name[:100] or 'artifact'}-v{found.version}"))


def _is_newer(here: _Here, there: RemoteArtifact, wanted: str) -> bool:
    """Version numbers are the server's; an alias or `latest` is whichever was logged last."""
    tag = wanted.partition(":")[2]
    by_number = tag[:1] == "v" and tag[1:].isdecimal()
    same = here.record.digest == there.digest
    return same or (not by_number and here.record.time > there.time)


def _from_here(one: _Here, dest: str | os.PathLike[str] | None) -> UsedArtifact:
    record = one.record
    folder = _folder(record.digest, dest)
    for file in record.files:
        if file.reference is None and not blob_path(one.run, file.sha256).exists():
            raise NotFound(
                f"the content of '{file.path}' of '{record.name}' is missing in run {one.run.name}; "
                "restore the run folder from a backup"
            )
    restore(one.run, record, folder, overwrite=True)
    return _used(record, one.version, one.run.name, folder)


def _from_server(found: RemoteArtifact, remote: Remote, dest: str | os.PathLike[str] | None) -> UsedArtifact:
    files = [
        ArtifactFile(path=file.path, sha256=file.sha256, size=file.size, mime=file.mime, reference=file.reference)
        for file in found.files
    ]
    record = Artifact(
        time=found.time,
        name=found.name,
        type=found.type,
        version=found.run_version,
        digest=found.digest,
        files=files,
        aliases=found.aliases,
        metadata=found.metadata,
    )
    folder = _folder(found.digest, dest)
    for file in files:
        if file.reference is not None:
            continue
        target = folder / check_inner_path(file.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.parent.resolve().is_relative_to(folder.resolve()):
            raise UsageError(f"'{target}' leads out of '{folder}' through a symbolic link; choose an empty dest")
        try:
            download(remote, found.run, file.sha256, file.size, target)
        except Unreachable as fault:
            why = f"'{file.path}' of '{found.name}' was not transferred in full: {fault}"
            raise StepscopeError(f"{why}. Run again to continue the download") from None
    return _used(record, found.version, found.run, folder)


def _folder(digest: str, dest: str | os.PathLike[str] | None) -> Path:
    folder = Path(dest) if dest is not None else cache_folder() / "artifacts" / digest[:32]
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _used(record: Artifact, version: int, run: str, folder: Path) -> UsedArtifact:
    return UsedArtifact(
        name=record.name,
        version=version,
        type=record.type,
        digest=record.digest,
        aliases=list(record.aliases),
        metadata=dict(record.metadata),
        path=folder,
        files=list(record.files),
        run=run,
        run_version=record.version,
    )
