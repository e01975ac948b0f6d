"""Disks that fill, fail, hang and vanish: no call raises, what can be kept is kept, and what is lost is counted."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stepscope.records import Alert, Dropped, End, Media
from stepscope.runs.format.frames import Kind
from stepscope.runs.format.meta import read_meta
from stepscope.runs.write import logfile, write_queue
from stepscope.runs.write.writer import RunWriter

from .written import events, in_child, new_run, payloads, quiet_writer, read_logs, rows, until, wait_for

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
real_write = os.write


@pytest.fixture
def run(store: Path) -> Path:
    return new_run(store)


class Disk:
    """Stands in for `os.write`: each call is first shown to `fault`, which may raise, wait, or say how much to take."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self.fault: Callable[[int], int | None] = lambda call: None
        monkeypatch.setattr(os, "write", self._write)

    def _write(self, fd: int, data: bytes) -> int:
        self.calls += 1
        most = self.fault(self.calls)
        return real_write(fd, data if most is None else memoryview(data)[:most])

    def fails(self, code: int, when: Callable[[int], bool]) -> None:
        def fault(call: int) -> int | None:
            if when(call):
                raise OSError(code, os.strerror(code))
            return None

        self.fault = fault

    def heals(self) -> None:
        self.fault = lambda call: None


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def end() -> End:
    return End(time=time.time(), status="finished")


def log_some(writer: RunWriter, count: int = 30) -> int:
    """Rows of two keysets, events and small media; how many values that are."""
    one, two = writer.keyset(("one",)), writer.keyset(("a", "b"))
    for step in range(count):
        one.write(step, (step,))
        two.write(step, (step, -step))
        if step % 10 == 5:
            writer.event(Alert(time=1.0, title=str(step)))
            writer.media(Media(key="m", step=step, time=1.0, kind="image"), bytes([step]) * 5000)
    return count * 3 + count // 10


def stored(run: Path) -> int:
    return sum(len(values) for _, values in rows(run)) + len(payloads(run, Kind.MEDIA))


def reported(run: Path) -> int:
    return sum(event.count for event in events(run) if isinstance(event, Dropped))


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EAGAIN, errno.ESTALE])
def test_a_write_that_fails_once_costs_nothing_wherever_it_falls(store: Path, disk: Disk, code: int) -> None:
    for n in range(1, 25):
        run, told = new_run(store), []
        writer = quiet_writer(run, on_problem=told.append)
        disk.calls = 0
        disk.fails(code, lambda call, n=n: call == n)  # type: ignore[misc]
        logged = log_some(writer, 20)
        writer.close(end())
        assert stored(run) == logged
        assert [event.title for event in events(run) if isinstance(event, Alert)] == ["5", "15"]
        assert isinstance(events(run)[-1], End)
        assert len(told) == 1
        assert writer.dropped == 0
        assert all(not log.holes and log.tail == 0 for log in read_logs(run))


@pytest.mark.parametrize("taken", [0, 1, 15, 16, 17, 47])
def test_short_writes_are_completed_or_taken_back(run: Path, disk: Disk, taken: int) -> None:
    def fault(call: int) -> int | None:
        if call % 3 == 1:
            return taken
        if call % 6 == 2:
            raise OSError(errno.ENOSPC, "full")
        return None

    disk.fault = fault
    writer = quiet_writer(run)
    logged = log_some(writer)
    disk.heals()
    writer.close(end())
    assert stored(run) == logged
    assert all(not log.holes and log.tail == 0 for log in read_logs(run))


def test_a_disk_that_stays_full_for_a_while_is_told_once_and_nothing_is_lost(run: Path, disk: Disk) -> None:
    told: list[str] = []
    writer = quiet_writer(run, on_problem=told.append)
    disk.fails(errno.ENOSPC, lambda call: call > 5)
    logged = log_some(writer)
    assert not writer.is_direct
    assert [message for message in told if "the disk is full" in message] == told
    assert len(told) == 1
    disk.heals()
    until(lambda: writer.is_direct)
    logged += log_some(writer)
    writer.close(end())
    assert stored(run) == logged
    assert reported(run) == writer.dropped == 0


def test_what_does_not_fit_in_memory_is_dropped_oldest_first_and_reported(run: Path, disk: Disk) -> None:
    told: list[str] = []
    writer = quiet_writer(run, on_problem=told.append)
    row = writer.keyset(("a", "b"))
    row.write(0, (0, 0))
    writer._delivery.backlog._limit = 30_000
    disk.fails(errno.EDQUOT, lambda call: True)
    row.write(1, (0, 0))
    writer.event(Alert(time=1.0, title="kept"))
    for step in range(2, 1000):
        row.write(step, (0, 0))
    assert writer._delivery.backlog.bytes <= 30_000
    disk.heals()
    until(lambda: writer.is_direct)
    row.write(1000, (0, 0))
    writer.close(end())
    steps = [step for step, _ in rows(run)]
    assert steps[0] == 0
    assert steps[1:] == list(range(steps[1], 1001))
    assert steps[1] > 800
    assert reported(run) == writer.dropped == 2 * (1001 - len(steps))
    assert "kept" in [event.title for event in events(run) if isinstance(event, Alert)]
    assert next(event for event in events(run) if isinstance(event, Dropped)).reason == "the disk quota is used up"
    assert len(told) == 2
    assert "works again" in told[1]


def test_a_disk_that_is_full_to_the_end_gives_up_soon_and_says_how_much(run: Path, disk: Disk) -> None:
    told: list[str] = []
    writer = quiet_writer(run, on_problem=told.append)
    logged = log_some(writer, 5)
    disk.fails(errno.ENOSPC, lambda call: True)
    lost = log_some(writer, 5)
    started = time.monotonic()
    writer.close(end(), timeout=1000)
    assert time.monotonic() - started < 200
    assert stored(run) == logged
    assert writer.dropped == lost
    assert any(f"{lost} values could not be written" in message for message in told)


def test_a_blob_that_does_not_fit_waits_like_the_rest(run: Path, disk: Disk) -> None:
    writer = quiet_writer(run)
    data = os.urandom(2 << 20)
    disk.fails(errno.ENOSPC, lambda call: True)
    writer.media(Media(key="m", step=0, time=1.0, kind="video"), data)
    assert list((run / "blobs").iterdir()) == []
    disk.heals()
    writer.close(end())
    (blob,) = (run / "blobs").iterdir()
    assert blob.read_bytes() == data
    assert len(payloads(run, Kind.MEDIA)) == 1


def test_a_sync_that_fails_is_told_and_the_training_goes_on(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(fd: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    told: list[str] = []
    monkeypatch.setattr("stepscope.runs.write.background.sync_data", refused)
    writer = RunWriter(run, run_id=run.name, heartbeat_s=0, fsync_s=0.02, mode="direct", on_problem=told.append)
    logged = log_some(writer)
    until(lambda: bool(told))
    monkeypatch.undo()
    until(lambda: writer.is_direct)
    logged += log_some(writer)
    writer.close(end())
    assert stored(run) == logged


def test_a_listener_that_raises_is_fenced(run: Path, disk: Disk, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(message: str) -> None:
        raise RuntimeError("the listener is broken")

    writer = quiet_writer(run, on_problem=broken)
    disk.fails(errno.EIO, lambda call: call == 2)
    logged = log_some(writer)
    writer.close(end())
    assert stored(run) == logged
    assert "the listener is broken" in capsys.readouterr().err


def test_a_listener_may_log_what_it_is_told(run: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a captured stderr does: the warning is printed, and what is printed is logged."""
    monkeypatch.setattr(write_queue, "PATIENCE_S", 30.0)
    told: list[str] = []

    def listener(message: str) -> None:
        began = time.monotonic()
        writer.event(Alert(time=1.0, title=message))
        told.append(message)
        assert time.monotonic() - began < 15, "it had to wait for its own lock"

    writer = quiet_writer(run, on_problem=listener)
    disk.fails(errno.EIO, lambda call: call == 2)
    logged = log_some(writer)
    writer.close(end())
    assert stored(run) == logged
    assert len(told) == 1
    assert told[0] in [event.title for event in events(run) if isinstance(event, Alert)]


def test_a_deleted_folder_is_made_again_with_what_was_in_it(run: Path) -> None:
    told: list[str] = []
    meta = read_meta(run)
    writer = RunWriter(run, run_id=run.name, heartbeat_s=0, fsync_s=0.02, mode="direct", on_problem=told.append)
    logged = log_some(writer)
    run.rename(run.parent / "aside")  # at once, or the writer would put back what rmtree is still deleting
    shutil.rmtree(run.parent / "aside")
    until(lambda: (run / "meta.json").exists() and bool(told))
    logged += log_some(writer)
    writer.close(end())
    assert read_meta(run) == meta
    assert stored(run) == logged
    assert len(told) == 1
    assert str(run) in told[0]
    assert os.stat(run).st_mode & 0o777 == 0o700


def test_a_folder_deleted_before_the_end_is_put_back_by_close(run: Path) -> None:
    writer = quiet_writer(run)
    logged = log_some(writer)
    shutil.rmtree(run)
    writer.media(Media(key="m", step=0, time=1.0, kind="video"), b"v" * (2 << 20))
    writer.close(end())
    assert stored(run) == logged + 1
    assert len(list((run / "blobs").iterdir())) == 1
    assert read_meta(run).id == run.name


def test_a_folder_that_cannot_be_made_again_is_replaced_by_a_temporary_one(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run, told = new_run(store), []
    writer = quiet_writer(run, on_problem=told.append)
    shutil.rmtree(store)
    store.write_text("a file where the folder was")
    logged = log_some(writer)
    writer.close(end())
    assert writer.path.parent.parent == tmp_path
    assert stored(writer.path) == logged
    assert read_meta(writer.path).id == run.name
    assert str(writer.path) in told[0]
    assert store.read_text() == "a file where the folder was"


def test_a_slow_disk_makes_callers_wait_only_for_a_while(
    run: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_queue, "PROBATION_S", 0.2)

    def slow(call: int) -> None:
        time.sleep(0.04)

    writer = quiet_writer(run, mode="auto")
    row = writer.keyset(("a",))
    row.write(0, (0,))
    disk.fault = slow
    waited = []
    for step in range(1, 60):
        began = time.monotonic()
        row.write(step, (step,))
        waited.append(time.monotonic() - began)
    assert not writer.is_direct
    assert sum(took > 0.04 for took in waited) < 30
    disk.heals()
    until(lambda: writer.is_direct)
    row.write(60, (60,))
    writer.close(end())
    assert [step for step, _ in rows(run)] == list(range(61))


def test_a_write_that_hangs_blocks_one_thread_and_no_other(run: Path, disk: Disk) -> None:
    """As on a dead network mount: one call is stuck in the kernel, holding the lock, for as long as it pleases."""
    freed, stuck = threading.Event(), threading.Event()

    def hang(call: int) -> None:
        if not stuck.is_set():
            stuck.set()
            freed.wait(300)

    writer = quiet_writer(run, mode="auto")
    row = writer.keyset(("a",))
    row.write(0, (0,))
    disk.fault = hang
    victim = threading.Thread(target=row.write, args=(1, (1,)))
    victim.start()
    assert stuck.wait(300)
    waited = []
    for step in range(2, 50):
        began = time.monotonic()
        row.write(step, (step,))
        waited.append(time.monotonic() - began)
    assert sum(waited) < 6, "a quarter of a second once, not for every call"
    freed.set()
    victim.join()
    writer.close(end())
    assert sorted(step for step, _ in rows(run)) == list(range(50))


def test_a_lock_that_is_never_released_is_left_behind(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepscope.runs.write.background.STUCK_S", 0.2)
    writer = quiet_writer(run)
    row = writer.keyset(("a",))
    row.write(0, (0,))
    writer._delivery.lock.acquire()
    row.write(1, (1,))
    until(lambda: len(rows(run)) == 2)
    until(lambda: writer.is_direct)
    row.write(2, (2,))
    writer.close(end())
    assert [step for step, _ in rows(run)] == [0, 1, 2]


def test_an_interrupt_inside_a_row_neither_skips_nor_repeats_a_number(run: Path, disk: Disk) -> None:
    writer = quiet_writer(run)
    row = writer.keyset(("a",))
    row.write(0, (0,))

    def interrupted(call: int) -> None:
        raise KeyboardInterrupt

    disk.fault = interrupted
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            row.write(1, (1,))
    disk.heals()
    row.write(2, (2,))
    row.write(3, (3,))
    writer.close(end())
    assert [step for step, _ in rows(run)] == [0, 2, 3]


def test_a_limit_on_the_size_of_files_begins_new_ones(run: Path) -> None:
    """RLIMIT_FSIZE gives real short writes, then EFBIG."""

    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        writer = quiet_writer(run)
        row = writer.keyset(tuple("abcdefghij"))
        for step in range(100):
            row.write(step, range(10))
        writer.close()

    assert wait_for(in_child(work)) == 0
    assert [step for step, _ in rows(run)] == list(range(100))
    logs = read_logs(run)
    assert len(logs) > 5
    assert all(log.path.stat().st_size <= 2000 and log.tail == 0 for log in logs)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "disk"
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=6m,nr_inodes=64", "tmpfs", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command here")
    if done.returncode:
        pytest.skip(f"mounting a small tmpfs is not permitted here: {done.stderr.strip()}")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


def test_a_real_disk_that_fills_and_is_freed_again(small_disk: Path) -> None:
    told: list[str] = []
    run = new_run(small_disk)
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(5 << 20))
    writer = quiet_writer(run, on_problem=told.append)
    writer._delivery.backlog._limit = 200_000
    row = writer.keyset(tuple("abcdefghij"))
    step = 0
    while writer.dropped < 1000:
        row.write(step, range(10))
        step += 1
        assert step < 100_000
    ballast.unlink()
    until(lambda: writer.is_direct)
    for _ in range(100):
        row.write(step, range(10))
        step += 1
    writer.close(end())
    assert 10 * len(rows(run)) + reported(run) == 10 * step
    assert reported(run) == writer.dropped >= 1000
    assert [step for step, _ in rows(run)][-100:] == list(range(step - 100, step))
    assert "the disk is full" in told[0]
    assert all(not log.holes and log.tail == 0 for log in read_logs(run))


def test_a_disk_without_inodes_still_takes_rows(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logfile, "SEGMENT_BYTES", 2000)
    run = new_run(small_disk)
    writer = quiet_writer(run)
    row = writer.keyset(("a",))
    row.write(0, (0,))
    fillers = []
    try:
        for n in range(100):
            filler = small_disk / f"filler{n}"
            filler.touch()
            fillers.append(filler)
    except OSError:
        pass
    for step in range(1, 200):
        row.write(step, (step,))
    assert writer.dropped == 0
    for filler in fillers:
        filler.unlink()
    writer.close(end())
    assert [step for step, _ in rows(run)] == list(range(200))


STRACED = """
import os, pathlib, sys, time
from stepscope.runs.write.writer import RunWriter
path = pathlib.Path(sys.argv[1])
told = []
writer = RunWriter(path, run_id=path.name, heartbeat_s=0, fsync_s=0, mode="auto", on_problem=told.append)
row = writer.keyset(("a",))
waited = []
for step in range(60):
    began = time.monotonic()
    row.write(step, (step,))
    waited.append(time.monotonic() - began)
writer.close()
# Not by write(2), which has the faults.
os.writev(1, [b"%d %d %d" % (sum(each > 1.0 for each in waited), len(told), writer.dropped)])
"""


def straced(run: Path, injection: str) -> tuple[int, int, int]:
    """Run a script that logs 60 rows with faults injected into its `write` calls; (slow calls, warnings, dropped)."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    command = [strace, "-f", "-qq", "-o", os.devnull, "-e", "trace=write", "-e", f"inject=write:{injection}"]
    done = subprocess.run(
        [*command, sys.executable, "-c", STRACED, str(run)], capture_output=True, text=True, timeout=300
    )
    if "ptrace" in done.stderr or "Operation not permitted" in done.stderr:
        pytest.skip(f"strace may not trace here: {done.stderr.strip()[:200]}")
    assert (done.returncode, done.stderr) == (0, "")
    slow, told, dropped = map(int, done.stdout.split())
    return slow, told, dropped


@pytest.mark.parametrize("injection", ["error=EIO:when=5+9", "error=ENOSPC:when=3..20", "error=EINTR:when=2+3"])
def test_errors_from_the_kernel_lose_nothing(run: Path, injection: str) -> None:
    slow, told, dropped = straced(run, injection)
    assert [step for step, _ in rows(run)] == list(range(60))
    assert (slow, dropped) == (0, 0)
    assert told == (0 if "EINTR" in injection else 1)


def test_a_file_system_that_hangs_makes_one_call_wait_and_no_more(run: Path) -> None:
    slow, _told, dropped = straced(run, "delay_enter=1200000:when=10+10")
    assert slow == 1
    assert dropped == 0
    assert [step for step, _ in rows(run)] == list(range(60))
