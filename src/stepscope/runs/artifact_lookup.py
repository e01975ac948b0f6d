"""Look up artifacts across a store: resolve a reference like `project/model:best` to a version."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stepscope.errors import NotFound, StepscopeError
from stepscope.records import Artifact
from stepscope.runs.artifacts import history, read_artifacts
from stepscope.runs.format.layout import run_folders
from stepscope.runs.format.meta import read_meta


class Kept(NamedTuple):
    """An artifact as a run has it."""

    run: Path
    project: str
    record: Artifact


class Wanted(NamedTuple):
    """A parsed reference to an artifact."""

    project: str | None
    name: str
    tag: str


def parse(reference: str) -> Wanted:
    """`name`, `name:tag`, `project/name:tag` or `entity/project/name:tag`.

    >>> parse("team/vae/model:best")
    Wanted(project='vae', name='model', tag='best')
    """
    path, _, tag = reference.partition(":")
    parts = path.strip("/").split("/")
    return Wanted(parts[-2] if len(parts) > 1 else None, parts[-1], tag or "latest")


def all_kept(store: Path, project: str | None = None) -> list[Kept]:
    """Every artifact of a project's runs, oldest first."""
    found = [kept for run in run_folders(store) for kept in _of_run(run, project)]
    return sorted(found, key=lambda kept: kept.record.time)


def _of_run(run: Path, project: str | None) -> Iterator[Kept]:
    try:
        theirs = read_meta(run).project
        if project in (None, theirs):
            for record in read_artifacts(run):
                yield Kept(run, theirs, record)
    except (StepscopeError, OSError):  # one damaged run must not hide the others
        return


def version_of(kept: list[Kept], one: Kept) -> int:
    """The version number of an artifact's content within its project and name."""
    same = [each.record for each in kept if each.project == one.project]
    digests = [record.digest for record in history(same, one.record.name)]
    return digests.index(one.record.digest) if one.record.digest in digests else one.record.version


def find(store: Path, reference: str, project: str | None) -> tuple[Kept, int]:
    """The artifact a reference names, and its version; in `project` unless the reference names another."""
    wanted = parse(reference)
    place = wanted.project or project
    return choose_kept(all_kept(store, place), wanted, f"project '{place}' of {store}")


def choose_kept(kept: list[Kept], wanted: Wanted, place: str) -> tuple[Kept, int]:
    """The same lookup among all artifacts of a project, oldest first; `place` is used in error messages."""
    named = [each for each in kept if each.record.name == wanted.name]
    if not named:
        known = ", ".join(sorted({each.record.name for each in kept})) or "none"
        raise NotFound(f"artifact '{wanted.name}' was not found in {place}; there are: {known}")
    if wanted.tag == "latest":
        return named[-1], version_of(kept, named[-1])
    for each in reversed(named):
        if wanted.tag in each.record.aliases or wanted.tag == f"v{version_of(kept, each)}":
            return each, version_of(kept, each)
    tags = {f"v{version_of(kept, each)}" for each in named} | {tag for each in named for tag in each.record.aliases}
    raise NotFound(f"artifact '{wanted.name}' has no '{wanted.tag}'; it has latest, {', '.join(sorted(tags))}")
