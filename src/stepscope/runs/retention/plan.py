"""Which parts of a run a policy removes. Planning only reads; `carry_out` removes.

plan = plan_for(open_run(path), Policy(points_days=90, media_newest=5), now=time.time())
plan.bytes, plan.media, plan.artifacts
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from stepscope.records import Artifact, Media
from stepscope.runs.compact.thin import would_thin
from stepscope.runs.format.blobs import blob_path
from stepscope.runs.format.ledger import read_ledger

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder

DAY_S = 86400.0
CAPSULE = "capsule"


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """How long a project keeps what. None keeps it forever."""

    points_days: float | None = None
    """After this many days, long series are reduced to the extremes, ends and means of a thousand intervals."""
    media_newest: int | None = None
    """For each key, the media of this many newest steps are kept."""
    artifact_days: float | None = None
    """After this many days, an artifact version is removed if no run uses it, it is not the newest and has no alias."""
    trash_days: float = 30.0
    """After this many days, a deleted run is removed permanently."""


KEEP_ALL = Policy()


@dataclass
class Plan:
    """What would be removed, with its size."""

    thin: bool = False
    points: int = 0
    """Points that would be removed."""
    point_bytes: int = 0
    media: dict[str, int] = field(default_factory=dict)
    """By hash: a medium in a log, or a blob that nothing else needs."""
    artifacts: dict[str, int] = field(default_factory=dict)
    """`name:v3` and the bytes that only it needs."""
    blobs: dict[str, int] = field(default_factory=dict)
    """Hashes of all blobs that would be removed."""

    @property
    def bytes(self) -> int:
        return self.point_bytes + sum(self.media.values()) + sum(self.artifacts.values())

    def __bool__(self) -> bool:
        return self.thin or bool(self.media) or bool(self.artifacts)


def plan_for(
    run: RunFolder, policy: Policy, now: float, is_needed: Callable[[Artifact], bool] = lambda artifact: False
) -> Plan:
    """What a policy removes from a run that has ended; nothing for a live one.

    `is_needed` checks the other runs: whether one of them uses an artifact, or it is the newest of its name.
    """
    plan = Plan()
    ended = run.standing.ended
    if run.standing.status == "running" or ended is None:
        return plan
    if policy.points_days is not None and now - ended > policy.points_days * DAY_S:
        found = would_thin(run.path)
        plan.thin, plan.points = found.points > 0, found.points
        plan.point_bytes = found.bytes_before - found.bytes_after
    old_media = _old_media(run, policy.media_newest) if policy.media_newest is not None else []
    old_artifacts = _old_artifacts(run, policy.artifact_days, now, is_needed)
    _weigh(run, plan, old_media, old_artifacts)
    return plan


def due_at(ended: float, policy: Policy) -> float | None:
    """When a policy next applies to a run that ended then; None for never."""
    days = [one for one in (policy.points_days, policy.artifact_days) if one is not None]
    return ended + min(days) * DAY_S if days else None


def _old_media(run: RunFolder, newest: int) -> list[Media]:
    found: list[Media] = []
    for key in run.media_keys():
        items = run.media(key, superseded=True)
        steps = sorted({one.step for one in items})
        kept = set(steps[max(0, len(steps) - newest) :])
        found += [one for one in items if one.step not in kept and one.sha256]
    return found


def _old_artifacts(
    run: RunFolder, days: float | None, now: float, is_needed: Callable[[Artifact], bool]
) -> list[Artifact]:
    """The versions to remove. The newest of each name and any with an alias stay; logging a version again makes it
    newer.
    """
    if days is None:
        return []
    last = {one.name: one.digest for one in run.artifacts}
    with_alias = {(one.name, one.digest) for one in run.artifacts if one.aliases}
    logged = {(one.name, one.digest): one for one in run.artifacts}
    return [
        one
        for one in logged.values()
        if now - one.time > days * DAY_S
        and one.type != CAPSULE
        and last[one.name] != one.digest
        and (one.name, one.digest) not in with_alias
        and not is_needed(one)
    ]


def _weigh(run: RunFolder, plan: Plan, media: list[Media], artifacts: list[Artifact]) -> None:
    """Sizes of content that only these need; content with other references stays."""
    needed = _still_needed(run, media, artifacts) | set(read_ledger(run.path).media)  # the latter are already removed
    for one in media:
        sha256 = one.sha256 or ""
        if sha256 in needed:
            continue
        plan.media[sha256] = one.size
        if blob_path(run.path, sha256).exists():
            plan.blobs[sha256] = one.size
    for artifact in artifacts:
        gone: dict[str, int] = {}
        for file in artifact.files:
            if file.reference is not None or file.sha256 in needed or file.sha256 in plan.blobs:
                continue
            if blob_path(run.path, file.sha256).exists():
                gone[file.sha256] = file.size
        if gone:
            plan.artifacts[f"{artifact.name}:v{artifact.version}"] = sum(gone.values())
            plan.blobs.update(gone)


def _still_needed(run: RunFolder, media: list[Media], artifacts: list[Artifact]) -> set[str]:
    """Hashes that something else in the run refers to."""
    going = {(one.name, one.digest) for one in artifacts}
    dropped = {id(one) for one in media}
    needed: set[str] = set()
    for artifact in run.artifacts:
        if (artifact.name, artifact.digest) not in going:
            needed.update(file.sha256 for file in artifact.files)
    for one in run.media(superseded=True):
        if one.sha256 and id(one) not in dropped:
            needed.add(one.sha256)
    return needed
