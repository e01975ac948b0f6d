"""Ended runs in a bucket or a folder: all of them there, read by ranges, and back from nothing."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.team import TOKEN, team_server

from stepscope.errors import ConfigError, StorageError
from stepscope.files.elsewhere import is_hollow
from stepscope.files.mapping import map_file
from stepscope.files.opening import open_file, read_file
from stepscope.records import RunMeta
from stepscope.runs.compact.compact import compact
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run, run_folders
from stepscope.runs.read.folder import open_run
from stepscope.runs.trash import move_to_trash, purge, trashed_runs
from stepscope.runs.write.writer import RunWriter
from stepscope.sync.archive import MANIFEST, Manifest, archive, bring_back, drop, forget, manifest_of, read_from
from stepscope.sync.fates import Fates
from stepscope.sync.keep import Keep
from stepscope.sync.local import checksum_before, frames_from, names_to_send, pieces_of, sha256_of
from stepscope.sync.object_store import open_objects
from stepscope.sync.objects import Objects, Stat
from stepscope.sync.pull import pull
from stepscope.sync.push import Pushed, push
from stepscope.sync.remote import Remote
from stepscope.sync.settled import settle
from stepscope.sync.verify import verify
from stepscope.sync.wire import is_log

from .buckets import CREDENTIALS, make_bucket, s3_service
from .test_sync import bytes_of, make


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_service() as address:
        yield address


@pytest.fixture(params=["folder", "s3"])
def objects(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Objects:
    if request.param == "folder":
        return open_objects(str(tmp_path / "archive"))
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    address = request.getfixturevalue("s3")
    bucket = f"bucket-{hashlib.sha256(str(tmp_path).encode()).hexdigest()[:20]}"
    make_bucket(address, bucket)
    return open_objects(f"s3://{bucket}/team?endpoint={address}")


def visible(store: Path) -> dict[str, bytes]:
    """All files of the runs as our own readers see them."""
    return {
        path.relative_to(store).as_posix(): read_file(path, 1 << 30, within=run)
        for run in run_folders(store)
        for path in sorted(run.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def test_objects_are_written_read_listed_and_removed(objects: Objects) -> None:
    data = os.urandom(100_000)
    sha256 = hashlib.sha256(data).hexdigest()
    objects.put("run/a.bin", io.BytesIO(data), len(data), sha256)
    assert objects.stat("run/a.bin") == Stat(len(data), sha256)
    assert objects.read("run/a.bin", 500, 700) == data[500:700]
    assert list(objects.keys("run/")) == ["run/a.bin"]
    assert list(objects.keys("other/")) == []
    assert objects.stat("run/b") is None
    with pytest.raises(FileNotFoundError):
        objects.read("run/b", 0, 5)
    objects.delete("run/a.bin")
    objects.delete("run/a.bin")
    assert list(objects.keys()) == []


def test_large_objects_travel_in_parts(objects: Objects) -> None:
    data = os.urandom(1 << 16) * 300  # more than a part
    objects.put("big", io.BytesIO(data), len(data), hashlib.sha256(data).hexdigest())
    assert objects.read("big", 17 << 20, (17 << 20) + 50) == data[17 << 20 : (17 << 20) + 50]


def test_a_run_that_moved_reads_the_same_and_takes_no_room(store: Path, objects: Objects) -> None:
    run = make(store, points=3000)
    before, values = visible(store), open_run(run).series("loss").values.tolist()
    times = {path: path.stat().st_mtime_ns for path in run.rglob("*") if path.is_file()}
    manifest = archive(run, objects)
    assert set(manifest.files) == {name.partition("/")[2] for name in before}
    blob = next((run / "blobs").iterdir())
    assert is_hollow(blob.lstat())
    assert blob.stat().st_size == 3 << 20
    assert {path: path.stat().st_mtime_ns for path in times} == times
    with read_from(objects):
        assert visible(store) == before
        assert open_run(run).series("loss").values.tolist() == values
        with open_file(blob, within=run) as file:
            file.seek(2_000_000)
            assert file.read(1000) == before[f"{run.name}/blobs/{blob.name}"][2_000_000:2_001_000]
        assert bytes(map_file(blob, within=run)) == before[f"{run.name}/blobs/{blob.name}"]
    assert archive(run, objects) == manifest  # also without a way to read: nothing empty is sent over the truth
    assert verify(store, objects, deep=True).problems == {}


def test_a_log_that_is_still_arriving_stays_on_the_disk(store: Path, tmp_path: Path, objects: Objects) -> None:
    """A run ends with its first rank; the logs of others come later."""
    about = RunMeta(id=new_run_id(), project="p", name="ranks", created=time.time())
    run = create_run(store, about)
    writer = RunWriter(run, run_id=about.id, heartbeat_s=0, fsync_s=0)
    row = writer.keyset(("loss",))
    home = tmp_path / "server"
    with read_from(objects):
        for part in range(3):
            for step in range(part * 2000, part * 2000 + 2000):
                row.write(step, (1 / (step + 1),))
            writer.flush()
            keep_all(run, Keep(home))
            archive(home / run.name, objects)  # the housekeeper takes the run for ended
        writer.close()
        keep_all(run, Keep(home))
        assert visible(home) == visible(store)
        there = home / run.name
        settle(there)
        assert compact(there, first=500_000).files == 1
        drop(there, objects)
        archive(there, objects)
    assert [name for name in (manifest_of(there) or Manifest("", "")).files if is_log(name)] == []
    assert verify(home, objects, deep=True).problems == {}


def keep_all(run: Path, keep: Keep) -> None:
    """Everything that a server does not have yet."""
    held = keep.held(run.name).files
    for name in names_to_send(run, ended=False):
        have = held.get(name, 0)
        if is_log(name):
            keep.add(run.name, name, have, frames_from(run, name, have), before=checksum_before(run, name, have))
        elif not have:
            sha256, size = sha256_of(run, name)
            for offset, data in pieces_of(run, name, 0):
                keep.add(run.name, name, offset, data, sha256=sha256, size=size)


def test_a_lost_disk_comes_back_from_the_objects_alone(store: Path, tmp_path: Path, objects: Objects) -> None:
    run = make(store, points=3000)
    before = visible(store)
    archive(run, objects)
    shutil.rmtree(store)
    assert verify(store, objects).orphans == [run.name]
    bring_back(objects, run.name, store)
    with read_from(objects):
        assert visible(store) == before
    assert verify(store, objects, deep=True).orphans == []
    assert forget(objects, run.name) == len(before) + 1
    assert list(objects.keys()) == []


def test_verify_names_what_is_missing_or_wrong(store: Path, objects: Objects) -> None:
    run = make(store, points=50)
    archive(run, objects)
    blob = f"blobs/{next((run / 'blobs').iterdir()).name}"
    assert verify(store, objects).problems == {}
    objects.put(f"{run.name}/meta.json", io.BytesIO(b"{}"), 2, hashlib.sha256(b"{}").hexdigest())
    objects.delete(f"{run.name}/{blob}")
    log = next(run.glob("*.log"))
    damaged = bytearray(log.read_bytes())
    damaged[len(damaged) // 2] ^= 8
    log.write_bytes(damaged)
    found = verify(store, objects).problems
    assert {f"{run.name}/meta.json", f"{run.name}/{blob}"} <= found.keys()
    assert any("damaged place" in problem for problem in found.values())
    assert verify(store, None).problems  # nobody said where the objects are


def test_verify_names_a_run_that_only_the_database_knows(store: Path, objects: Objects) -> None:
    here, moved, trashed, purged, lost = (make(store, points=5) for _ in range(5))
    archive(moved, objects)
    for run in (moved, lost):
        shutil.rmtree(run)
    for run in (trashed, purged):
        move_to_trash(run)
    Fates(store).note()
    purge(next(one for one in trashed_runs([store]) if one.id == purged.name))
    found = verify(store, objects, known=[run.name for run in (here, moved, trashed, purged, lost)])
    assert list(found.problems) == [lost.name]
    assert found.orphans == [moved.name]


def test_a_bucket_that_does_not_answer_is_a_fault_and_not_an_empty_file(store: Path, tmp_path: Path) -> None:
    objects = open_objects(str(tmp_path / "archive"))
    run = make(store)
    archive(run, objects)
    shutil.rmtree(tmp_path / "archive")
    with read_from(objects), pytest.raises(OSError, match="No such file"):
        read_file(next((run / "blobs").iterdir()), 1 << 30, within=run)


@pytest.mark.parametrize("place", ["ftp://x", "s3:///prefix", "gs://bucket"])
def test_places_that_are_none(place: str) -> None:
    with pytest.raises(ConfigError, match="expected s3://bucket/prefix"):
        open_objects(place)


def test_a_bucket_that_is_not_there_is_named(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(StorageError, match=r"s3://nowhere/x cannot be used"):
        open_objects(f"s3://nowhere/x?endpoint={s3}")


@pytest.mark.nightly
def test_a_server_moves_ended_runs_and_goes_on_showing_and_sending_them(
    store: Path, tmp_path: Path, objects: Objects
) -> None:
    home = tmp_path / "server"
    run = make(store, points=3000)
    serving = team_server(home, objects=objects, rest_s=0.1, poll_s=0.05)
    with serving as server, Remote(server.url, TOKEN) as remote:
        push([run], remote)
        until = time.monotonic() + 200
        while not (home / run.name / MANIFEST).exists() or not (home / run.name / "compact").exists():
            assert time.monotonic() < until, "the run was not moved"
            time.sleep(0.05)
        assert push([run], remote) == Pushed(runs=1)  # the log is compacted there: it is not sent again
        headers = {"authorization": f"Bearer {TOKEN}", "x-stepscope": "1"}
        asked = {"runs": [run.name], "keys": ["loss"], "buckets": 50}
        answer = httpx.post(f"{server.url}/api/series", json=asked, headers=headers, timeout=60)
        assert answer.status_code == 200, answer.text
        assert pull(remote, store) == Pushed(runs=1)  # nor is what it made of it brought back
        pull(remote, tmp_path / "laptop")
        blob = next((run / "blobs").iterdir()).name
        assert (tmp_path / "laptop" / run.name / "blobs" / blob).read_bytes() == (run / "blobs" / blob).read_bytes()
        assert compact(run).files == 1  # the client does the same later: nothing to send
        assert push([run], remote) == Pushed(runs=1)
    mine, laptop = open_run(run), open_run(tmp_path / "laptop" / run.name)
    assert laptop.series("loss").values.tolist() == mine.series("loss").values.tolist()
    manifest = manifest_of(home / run.name)
    assert manifest is not None
    assert verify(home, objects, deep=True).problems == {}
    assert bytes_of(store)
