"""A policy plans and removes exactly what it says, and never what something else still needs."""

from __future__ import annotations

import hashlib
import os
import random
from pathlib import Path

import pytest

from stepscope.errors import NotFound
from stepscope.records import Artifact, ArtifactFile, End, Media, RunMeta
from stepscope.runs.artifacts import digest_of
from stepscope.runs.compact.compact import compact
from stepscope.runs.format.blobs import blob_path, put_bytes
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.format.ledger import read_ledger
from stepscope.runs.read.folder import open_run
from stepscope.runs.retention.carry_out import carry_out
from stepscope.runs.retention.plan import DAY_S, KEEP_ALL, Policy, due_at, plan_for
from stepscope.runs.write.writer import RunWriter

NOW = 1_800_000_000.0


def artifact(path: Path, name: str, version: int, content: bytes, days_old: float, *aliases: str) -> Artifact:
    file = ArtifactFile(path="w.bin", sha256=put_bytes(path, content), size=len(content))
    when = NOW - days_old * DAY_S
    return Artifact(
        time=when, name=name, version=version, digest=digest_of([file]), files=[file], aliases=list(aliases)
    )


@pytest.fixture
def run(store: Path) -> Path:
    """5,000 noisy points, four images of one key (two as blobs), four versions of a model; ended 100 days ago."""
    ended = NOW - 100 * DAY_S
    meta = RunMeta(id=new_run_id(ended), project="p", name="old", created=ended - 100)
    path = create_run(store, meta)
    writer = RunWriter(path, run_id=meta.id, heartbeat_s=0, fsync_s=0)
    row = writer.keyset(("loss",))
    noise = random.Random(0)  # as training curves are: a file of repeated values would not shrink
    for step in range(5000):
        row.write(step, (noise.random(),))
    for step in range(4):
        content = os.urandom(100_000 if step % 2 else 2_000_000)
        writer.media(Media(key="sample", step=step, time=ended, kind="image", mime="image/png"), content)
    for version, aliases in enumerate([(), ("best",), (), ()]):
        writer.event(artifact(path, "model", version, b"%d" % version * 5000, 100, *aliases))
    writer.close(End(time=ended, status="finished"))
    compact(path)
    return path


def test_nothing_goes_without_a_policy_or_before_its_time(run: Path) -> None:
    folder = open_run(run)
    assert not plan_for(folder, KEEP_ALL, NOW)
    assert not plan_for(folder, Policy(points_days=101, artifact_days=101, media_newest=4), NOW)
    assert due_at(NOW, KEEP_ALL) is None
    assert due_at(NOW, Policy(points_days=7, artifact_days=3)) == NOW + 3 * DAY_S


def test_the_newest_media_of_a_key_stay(run: Path) -> None:
    folder = open_run(run)
    images = folder.media("sample")
    plan = plan_for(folder, Policy(media_newest=1), NOW)
    assert set(plan.media) == {one.sha256 for one in images[:3]}
    before = sum(path.stat().st_size for path in run.rglob("*") if path.is_file())
    done = carry_out(run, plan, NOW)
    assert (done.problems, done.points) == ([], 0)
    assert done.bytes >= 4_100_000
    after = open_run(run)
    assert hashlib.sha256(after.media_bytes(images[3])).hexdigest() == images[3].sha256
    for gone in images[:3]:
        with pytest.raises(NotFound, match="removed by the retention settings"):
            after.media_bytes(gone)
    assert len(after.media("sample")) == 4  # that they were logged stays known
    assert after.damage == folder.damage
    assert sum(path.stat().st_size for path in run.rglob("*") if path.is_file()) < before - 4_000_000
    assert not plan_for(open_run(run), Policy(media_newest=1), NOW)  # once


def test_an_artifact_stays_that_is_used_newest_or_has_an_alias(run: Path) -> None:
    folder = open_run(run)
    used = folder.artifacts[2].digest
    plan = plan_for(folder, Policy(artifact_days=30), NOW, lambda one: one.digest == used)
    assert plan.artifacts == {"model:v0": 5000}
    carry_out(run, plan, NOW)
    kept = [blob_path(run, one.files[0].sha256).exists() for one in folder.artifacts]
    assert kept == [False, True, True, True]
    assert list(read_ledger(run).files.values()) == [5000]


def test_content_that_two_need_stays(run: Path) -> None:
    folder = open_run(run)
    writer = RunWriter(run, run_id=folder.id, attempt=0, heartbeat_s=0, fsync_s=0)
    writer.event(artifact(run, "copy", 0, b"0" * 5000, 100))
    writer.close(End(time=NOW - 100 * DAY_S, status="finished"))
    assert set(plan_for(open_run(run), Policy(artifact_days=30), NOW).artifacts) == {"model:v2"}


def test_old_points_are_thinned(run: Path) -> None:
    plan = plan_for(open_run(run), Policy(points_days=30), NOW)
    assert plan.thin
    was = open_run(run).metric_summary("loss")
    done = carry_out(run, plan, NOW)
    assert done.points == plan.points > 0
    assert open_run(run).metric_summary("loss").count == was.count == 5000
    assert set(read_ledger(run).files) == {"compact/000000.log"}


def test_a_run_that_goes_on_is_left_alone(store: Path) -> None:
    meta = RunMeta(id=new_run_id(), project="p", name="live", created=NOW)
    path = create_run(store, meta)
    writer = RunWriter(path, run_id=meta.id)
    try:
        writer.event(artifact(path, "model", 0, b"a", 100))
        writer.event(artifact(path, "model", 1, b"b", 100))
        assert not plan_for(open_run(path), Policy(points_days=0, artifact_days=0, media_newest=0), NOW)
    finally:
        writer.close()
