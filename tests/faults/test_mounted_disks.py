"""Real mounts with faults: quotas, no inodes, failing syncs, a disk that hangs or dies, caching clients, buckets.

They need root and /dev/fuse (tests/faults/fuse.py), and are skipped elsewhere.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.mounted import Faulty, faulty_disk
from tests.runs.written import events, new_run, quiet_writer, read_logs, rows, until

import stepscope
from stepscope.records import Dropped, End, RunMeta
from stepscope.runs.format.filesystem import is_remote
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run, run_folders
from stepscope.runs.read.folder import open_run
from stepscope.runs.write.writer import RunWriter

NAMES = tuple("abcdefghij")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Faulty]:
    with faulty_disk(tmp_path) as disk:
        yield disk


@pytest.fixture
def hanging_disk(tmp_path: Path) -> Iterator[Faulty]:
    """A disk that lets go of processes while it hangs."""
    with faulty_disk(tmp_path, None, "--no-flush") as disk:
        (disk.path / "closed").write_text("")  # the kernel learns that closing need not wait
        (disk.path / "closed").unlink()
        yield disk


def reported(run: Path) -> int:
    return sum(event.count for event in events(run) if isinstance(event, Dropped))


def test_a_quota_that_is_used_up_and_raised_again(disk: Faulty) -> None:
    told: list[str] = []
    run = new_run(disk.path)
    writer = quiet_writer(run, on_problem=told.append)
    writer._delivery.backlog._limit = 50_000
    disk.fail("quota", "40000")
    row = writer.keyset(NAMES)
    step = 0
    while writer.dropped < 500:
        row.write(step, range(10))
        step += 1
        assert step < 20_000
    disk.heal("quota")
    until(lambda: writer.is_direct)
    for _ in range(50):
        row.write(step, range(10))
        step += 1
    writer.close(End(time=1.0, status="finished"))
    assert "the disk quota is used up" in told[0]
    assert 10 * len(rows(run)) + reported(run) == 10 * step
    assert reported(run) == writer.dropped
    assert [step for step, _ in rows(run)][-50:] == list(range(step - 50, step))
    assert all(not log.holes and log.tail == 0 for log in read_logs(run))


def test_no_inodes_left_for_a_new_segment(disk: Faulty, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepscope.runs.write.logfile.SEGMENT_BYTES", 2000)
    run = new_run(disk.path)
    writer = quiet_writer(run)
    row = writer.keyset(("a",))
    row.write(0, (0,))
    disk.fail("create", "ENOSPC")
    for step in range(1, 300):
        row.write(step, (step,))
    assert writer.dropped == 0
    disk.heal("create")
    writer.close()
    assert [step for step, _ in rows(run)] == list(range(300))


@pytest.mark.parametrize("call", ["mkdir", "create", "write", "fsync", "rename"])
@pytest.mark.parametrize("code", ["EDQUOT", "EIO", "EROFS"])
def test_a_run_that_cannot_be_begun_where_it_should_be(
    disk: Faulty, tmp_path: Path, call: str, code: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """The script goes on, and what it logs is kept in a temporary folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    disk.fail(call, code)
    run = stepscope.init(dir=disk.path, system=False, git=False, console=False)
    for step in range(20):
        run.log({"loss": step / 4}, step=step)
    run.finish()
    assert run.path is not None
    assert f"recording to {run.path} instead" in capsys.readouterr().err
    assert stepscope.run(run.path).series("loss").values.tolist() == [step / 4 for step in range(20)]


@pytest.mark.parametrize(("call", "code"), [("fsync", "EIO"), ("flush", "EDQUOT")])
def test_a_sync_or_a_close_that_fails_as_on_nfs(disk: Faulty, call: str, code: str) -> None:
    told: list[str] = []
    run = new_run(disk.path)
    writer = RunWriter(run, run_id=run.name, heartbeat_s=0, fsync_s=0.02, mode="direct", on_problem=told.append)
    row = writer.keyset(("a",))
    row.write(0, (0,))
    disk.fail(call, code)
    for step in range(1, 100):
        row.write(step, (step,))
    if call == "fsync":
        until(lambda: bool(told))
    disk.heal(call)
    for step in range(100, 200):
        row.write(step, (step,))
    writer.close(End(time=1.0, status="finished"))
    assert sorted({step for step, _ in rows(run)}) == list(range(200))


TRAINING = """
import sys
import stepscope
run = stepscope.init(dir=sys.argv[1], system=False, git=False, console=False)
for step in range(50):
    run.log({"loss": step / 4}, step=step)
print("begun", flush=True)
sys.stdin.readline()
for step in range(50, 2000):
    run.log({"loss": step / 4}, step=step)
print("trained", flush=True)
sys.stdin.readline()
run.finish()
print("ended", flush=True)
"""


def training(disk: Faulty) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", TRAINING, str(disk.path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize("end", ["comes back", "never comes back", "dies"])
def test_a_network_disk_that_hangs_never_stops_the_training(hanging_disk: Faulty, end: str) -> None:
    """Nothing is timed: while the disk hangs, a training that waits for it would never come to its last step."""
    disk = hanging_disk
    assert is_remote(disk.path)
    process = training(disk)
    assert heard(process) == "begun"
    disk.hang()
    go_on(process)
    assert heard(process) == "trained"
    if end == "comes back":
        disk.go_on()
    elif end == "dies":
        disk.die()
    go_on(process)
    assert heard(process) == "ended"
    _, said = process.communicate()
    assert process.returncode == 0
    disk.go_on() if end != "dies" else None
    (path,) = run_folders(disk.backing)
    run = stepscope.run(path)
    values = run.series("loss").values.tolist() if "loss" in run.metrics() else []
    assert values == [step / 4 for step in range(len(values))]
    numbers = [int(number) for number in re.findall(r"(\d+) (?:values|more)", said)]
    if end == "comes back":
        assert (len(values), numbers, run.status) == (2000, [], "finished")
    else:
        assert len(values) + sum(numbers) >= 2000, said  # of those in doubt some may be there


def test_a_disk_that_hangs_in_a_sync_never_stops_the_training_nor_its_end(disk: Faulty) -> None:
    process = training(disk)
    assert heard(process) == "begun"
    disk.fail("fsync", "STOP")
    until(lambda: disk.is_hung)
    go_on(process)
    assert heard(process) == "trained"
    go_on(process)
    assert heard(process) == "ended"
    disk.go_on()  # the kernel lets no process go whose call the disk has taken and not answered
    _, said = process.communicate()
    assert process.returncode == 0
    assert "does not answer" in said


def test_two_clients_that_remember_names_sizes_and_absent_names(disk: Faulty, tmp_path: Path) -> None:
    """As NFS does: one writes, the other has asked for names before they were there, and holds what it was told."""
    with faulty_disk(tmp_path / "other", disk.backing, "--cache-s", "1.5") as other:
        about = RunMeta(id=new_run_id(), project="p", name="n", created=1.79e9)
        seen = other.path / about.id
        assert not (seen / "meta.json").exists()
        run = create_run(disk.path, about)
        until(lambda: run_folders(other.path) == [seen])
        for name in ("blobs", "compact"):
            assert not (seen / name).exists()
        reader = open_run(seen)
        assert reader.metrics() == []
        writer = quiet_writer(run)
        row = writer.keyset(("loss",))
        total = 0
        for _ in range(3):
            for _ in range(100):
                row.write(total, (total / 4,))
                total += 1
            writer.flush()

            def all_there(count: int = total) -> bool:
                reader.refresh()
                return "loss" in reader.metrics() and len(reader.series("loss")) == count

            until(all_there)
            assert reader.series("loss").values.tolist() == [step / 4 for step in range(total)]
        writer.close(End(time=1.0, status="finished"))
        until(lambda: open_run(seen).status == "finished")
        assert not open_run(seen).damage


def test_a_bucket_that_neither_renames_nor_appends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with faulty_disk(tmp_path / "bucket", None, "--object-store") as bucket:
        run = stepscope.init(dir=bucket.path, system=False, git=False, console=False)
        for step in range(20):
            run.log({"loss": step / 4}, step=step)
        run.finish()
        assert run.path is not None
        assert f"recording to {run.path} instead" in capsys.readouterr().err
        assert not run.path.is_relative_to(bucket.path)
        assert stepscope.run(run.path).series("loss").values.tolist() == [step / 4 for step in range(20)]
