"""Artifacts into a run and out of the store: `log_artifact`, `use_artifact` and `link_artifact`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from stepscope.wandb import artifact_lookup
from stepscope.wandb.artifacts import Artifact
from stepscope.wandb.errors import CommError

if TYPE_CHECKING:
    from stepscope.track.run import Run


def log(
    run: Run, given: Any, name: str | None, type: str | None, aliases: Sequence[str] | None, tags: Sequence[str] | None
) -> Artifact:
    """Store an artifact, a file or a folder with a run."""
    artifact = given if isinstance(given, Artifact) else _from_path(run, given, name, type)
    if artifact._kept is not None and artifact._kept.run == run.path:
        return artifact
    listed = [aliases] if isinstance(aliases, str) else list(aliases or artifact._aliases)
    artifact._aliases = list(dict.fromkeys([*listed, "latest"]))
    artifact.tags = list(tags or artifact.tags)
    record = run.log_artifact(
        artifact._pieces or {"metadata.json": msgspec.json.encode(_notes(artifact))},
        artifact._base,
        artifact.type,
        aliases=[alias for alias in artifact._aliases if alias != "latest"],
        metadata=_notes(artifact),
    )
    if record is not None and run.path is not None:
        artifact._kept = artifact_lookup.Kept(run.path, run.project, record)
    return artifact


def _notes(artifact: Artifact) -> Mapping[str, Any]:
    more = {"description": artifact.description, "tags": artifact.tags}
    return {**artifact.metadata, **{name: value for name, value in more.items() if value}}


def _from_path(run: Run, path: Any, name: str | None, type: str | None) -> Artifact:
    where = os.fspath(path)
    artifact = Artifact(name or f"run-{run.id}-{Path(where).name}", type or "unspecified")
    if "://" in where:
        artifact.add_reference(where)
    elif Path(where).is_dir():
        artifact.add_dir(where, policy="immutable")
    else:
        artifact.add_file(where, policy="immutable")
    return artifact


def from_kept(one: artifact_lookup.Kept) -> Artifact:
    """An artifact from the store."""
    record = one.record
    metadata = {name: value for name, value in record.metadata.items() if name not in ("description", "tags")}
    artifact = Artifact(record.name.replace("/", "-"), record.type, record.metadata.get("description"), metadata)
    artifact._base, artifact._kept, artifact._aliases = record.name, one, list(record.aliases)
    artifact.tags = list(record.metadata.get("tags") or ())
    return artifact


def use(run: Run, wanted: str | Artifact, type: str | None) -> Artifact:
    """An artifact of the store by name, or a given one (logged first if necessary)."""
    if isinstance(wanted, Artifact):
        return wanted if wanted._kept is not None else log(run, wanted, None, None, None, None)
    if run.path is None:
        raise CommError(f"artifact '{wanted}' cannot be found: recording is off, so there is no store to look in")
    run.flush()
    found = fetched(run.path.parent, wanted, run.project, type)
    if found._kept is not None:
        run.note_use(found._kept.record, wanted, found._kept.run.name)
    return found


def fetched(store: Path, reference: str, project: str | None, type: str | None) -> Artifact:
    one, _version = artifact_lookup.find(store, reference, project)
    if type is not None and one.record.type != type:
        raise ValueError(f"Expected artifact type {type}, got {one.record.type}")
    return from_kept(one)


def link(run: Run, artifact: Artifact, target_path: str, aliases: Sequence[str] | None) -> Artifact:
    """The same content under another name: there is no registry apart from the runs."""
    if artifact._kept is None:
        log(run, artifact, None, None, None, None)
    name = artifact_lookup.parse(target_path).name
    linked = Artifact(name, artifact.type, artifact.description, artifact.metadata)
    folder = linked._folder()
    if artifact._kept is not None and name != artifact._base:
        artifact.download(folder)
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            linked._pieces[path.relative_to(folder).as_posix()] = path
        return log(run, linked, None, None, aliases, None)
    return artifact
