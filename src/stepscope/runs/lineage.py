"""Which run made an artifact, and which runs used it: content is tracked by digest across a project's runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from stepscope.records import Artifact, ArtifactUse

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder

CAPSULE = "capsule"
"""Saved steps of a run are artifacts too; nothing derives from them."""


class RunArtifacts(NamedTuple):
    """What a run logged and used."""

    run: str
    logged: list[Artifact]
    used: list[ArtifactUse]

    @property
    def made(self) -> list[Artifact]:
        """A run that logs an artifact it used, for example to add an alias, did not make it."""
        inputs = {one.digest for one in self.used}
        return [one for one in self.logged if one.digest not in inputs]


def artifacts_of(run: RunFolder) -> RunArtifacts:
    return RunArtifacts(run.id, [one for one in run.artifacts if one.type != CAPSULE], run.events(ArtifactUse))


def needed_by(runs: Iterable[RunArtifacts]) -> Callable[[Artifact], bool]:
    """Whether one of these runs uses an artifact, or it is the newest of its name among those they logged."""
    every = list(runs)
    used = {one.digest for run in every for one in run.used}
    newest: dict[str, Artifact] = {}
    for run in every:
        for one in run.logged:
            if one.name not in newest or one.time >= newest[one.name].time:
                newest[one.name] = one
    last = {(one.name, one.digest) for one in newest.values()}
    return lambda artifact: artifact.digest in used or (artifact.name, artifact.digest) in last
