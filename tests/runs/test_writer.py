from __future__ import annotations

import hashlib
import os
import signal
import stat
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from stepscope.records import Alert, Console, End, Media, TagsChange
from stepscope.runs.format.frames import Kind
from stepscope.runs.format.layout import log_files
from stepscope.runs.write import logfile
from stepscope.runs.write.writer import RunWriter

from .written import events, in_child, new_run, payloads, quiet_writer, read_logs, row_times, rows, until, wait_for

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")


@pytest.fixture
def run(store: Path) -> Path:
    return new_run(store)


def kinds(path: Path) -> list[list[str]]:
    return [[Kind(frame.kind).name for frame in log.frames] for log in read_logs(path)]


def end() -> End:
    return End(time=time.time(), status="finished")


def test_rows_come_back_with_their_names_steps_values_and_times(run: Path) -> None:
    writer = quiet_writer(run)
    row = writer.keyset(("loss", "acc"))
    before = time.time()
    row.write(-5, (1.5, float("inf")))
    row.write(7, [0.25, -0.0])
    row.write(7, (1, 2), time.monotonic() - 0.001)
    assert writer.keyset(("loss", "acc")) is row
    writer.close(end())
    assert rows(run) == [
        (-5, {"loss": 1.5, "acc": float("inf")}),
        (7, {"loss": 0.25, "acc": -0.0}),
        (7, {"loss": 1.0, "acc": 2.0}),
    ]
    assert all(before - 0.01 < at < time.time() + 0.01 for at in row_times(run))
    assert kinds(run) == [["HEADER", "META", "DEFINE", "ROW", "ROW", "ROW", "EVENT", "HEADER", "DEFINE", "SEAL"]]


def test_ten_scalars_take_at_most_twelve_bytes_a_point(run: Path) -> None:
    writer = quiet_writer(run)
    row = writer.keyset(tuple("abcdefghij"))
    for step in range(1000):
        row.write(step, range(10))
    writer.close(end())
    assert sum(file.stat().st_size for file in log_files(run)) / 10_000 < 12


def test_a_row_is_on_the_disk_when_write_returns(run: Path) -> None:
    writer = quiet_writer(run)
    row = writer.keyset(("a",))
    for step in range(20):
        row.write(step, (0.5,))
        assert len(rows(run)) == step + 1
    writer.close()


def test_a_wrong_number_of_values_raises_and_harms_nothing(run: Path) -> None:
    writer = quiet_writer(run)
    row = writer.keyset(("a", "b"))
    for bad in ((1.0,), (1.0, 2.0, 3.0), ("x", 1.0), (None, 1.0)):
        with pytest.raises(struct.error):
            row.write(0, bad)  # type: ignore[arg-type]
        row.write(1, (1.0, 2.0))
    writer.close()
    assert rows(run) == [(1, {"a": 1.0, "b": 2.0})] * 4


def test_names_of_every_kind_are_kept_and_never_a_path(run: Path) -> None:
    names = (
        "",
        "x" * 10_000,
        "a\0b",
        "new\nline",
        "../../etc",
        "/abs",
        "CON",
        "🙂",
        "\u202eright",
        "e\u0301",
        "\u00e9",
    )
    writer = quiet_writer(run)
    writer.keyset(names).write(0, range(len(names)))
    writer.keyset(("\udc80",)).write(0, (1.0,))
    writer.close()
    (_, first), (_, second) = rows(run)
    assert tuple(first) == names
    assert list(second) == ["\\udc80"]
    assert sorted(file.suffix for file in run.rglob("*")) == [".json", ".log"]


def test_keysets_are_defined_anew_in_each_segment_and_stretch(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logfile, "SEGMENT_BYTES", 8000)
    monkeypatch.setattr(logfile, "STRETCH_BYTES", 2000)
    writer = quiet_writer(run)
    one, two = writer.keyset(("one",)), writer.keyset(("two",))
    for step in range(400):
        one.write(step, (step,))
        if step % 3 == 0:
            two.write(step, (step,))
    writer.close(end())
    assert [(step, values["one"]) for step, values in rows(run) if "one" in values] == [(n, n) for n in range(400)]
    assert len(rows(run)) == 400 + 134
    logs = read_logs(run)
    assert [log.header.segment for log in logs] == list(range(len(logs)))
    assert len(logs) >= 3
    for log in logs:
        names = [Kind(frame.kind).name for frame in log.frames]
        assert names[0] == "HEADER"
        assert names[-1] == "SEAL"
        assert 4 <= names.count("DEFINE") <= 16, "once per keyset and stretch, not once per row"
        assert log.path.stat().st_size < 8700


def test_media_go_inline_into_the_media_file_or_into_a_blob_by_size(run: Path) -> None:
    writer = quiet_writer(run)
    small, middle, large = b"s" * 2048, b"m" * 2049, os.urandom((1 << 20) + 1)
    for step, data in enumerate((small, middle, large, middle, large, None)):
        writer.media(Media(key="k", step=step, time=1.0, kind="image", size=7), data)
    writer.close(end())
    found = [msgspec.msgpack.decode(payload, type=Media) for payload in payloads(run, Kind.MEDIA)]
    assert [(media.data, media.sha256, media.size) for media in found] == [
        (small, None, 2048),
        (None, hashlib.sha256(middle).hexdigest(), 2049),
        (None, hashlib.sha256(large).hexdigest(), (1 << 20) + 1),
        (None, hashlib.sha256(middle).hexdigest(), 2049),
        (None, hashlib.sha256(large).hexdigest(), (1 << 20) + 1),
        (None, None, 7),
    ]
    assert payloads(run, Kind.BYTES) == [hashlib.sha256(middle).digest() + middle]
    assert [file.name for file in (run / "blobs").iterdir()] == [hashlib.sha256(large).hexdigest()]
    assert sorted(log.header.kind for log in read_logs(run)) == ["media", "points"]


def test_events_console_and_wide_rows_are_kept(run: Path) -> None:
    writer = quiet_writer(run)
    writer.event(TagsChange(time=1.0, add=["x"]))
    writer.console(Console(time=2.0, stream="stdout", text=os.fsdecode(b"\xff!")))
    writer.wide(3, {"big": 2**60 + 1, "huge": 2**100})
    writer.close()
    assert events(run) == [TagsChange(time=1.0, add=["x"])]
    assert msgspec.msgpack.decode(payloads(run, Kind.CONSOLE)[0], type=Console).text == "\\udcff!"
    at, step, values = msgspec.msgpack.decode(payloads(run, Kind.WIDE)[0])
    assert abs(at - time.time()) < 5
    assert (step, values) == (3, {"big": 2**60 + 1, "huge": str(2**100)})


def test_a_file_is_kept_as_a_blob(run: Path, tmp_path: Path) -> None:
    (tmp_path / "model.pt").write_bytes(b"weights")
    writer = quiet_writer(run)
    assert writer.blob_file(tmp_path / "model.pt") == (hashlib.sha256(b"weights").hexdigest(), 7)
    writer.close()


def test_files_are_private_whatever_the_umask(run: Path) -> None:
    before = os.umask(0)
    try:
        writer = quiet_writer(run)
        writer.keyset(("a",)).write(0, (1.0,))
        writer.media(Media(key="k", step=0, time=1.0, kind="image"), b"x" * 5000)
        writer.media(Media(key="k", step=0, time=1.0, kind="image"), b"x" * 2_000_000)
        writer.close()
    finally:
        os.umask(before)
    for path in (run, *run.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_the_header_names_the_process(run: Path) -> None:
    writer = quiet_writer(run, rank=3, attempt=2, first_step=50, role="system")
    writer.event(Alert(time=1.0, title="x"))
    writer.close()
    header = read_logs(run)[0].header
    assert (header.run_id, header.rank, header.attempt, header.first_step) == (run.name, 3, 2, 50)
    assert (header.role, header.pid, header.kind) == ("system", os.getpid(), "points")
    assert header.pid_started > 1e9
    assert header.boot_id
    assert header.host


def test_a_writer_that_wrote_nothing_leaves_nothing(run: Path) -> None:
    quiet_writer(run).close()
    assert log_files(run) == []


def test_after_the_end_nothing_is_written_and_nothing_raises(run: Path) -> None:
    writer = quiet_writer(run)
    row = writer.keyset(("a", "b"))
    row.write(0, (1.0, 2.0))
    writer.close(end())
    row.write(1, (1.0, 2.0))
    writer.event(Alert(time=1.0, title="late"))
    writer.close(end())
    assert len(rows(run)) == 1
    assert len(events(run)) == 1
    assert writer.dropped == 2


def test_the_heart_beats_and_stops_with_the_end(run: Path) -> None:
    writer = RunWriter(run, run_id=run.name, heartbeat_s=0.02, fsync_s=0.02)
    assert kinds(run) == [["HEADER", "META", "HEARTBEAT"]]
    until(lambda: len(payloads(run, Kind.HEARTBEAT)) >= 4)
    writer.close(end())
    (last,) = struct.unpack("<d", payloads(run, Kind.HEARTBEAT)[-1])
    assert abs(last - time.time()) < 5
    assert not [thread for thread in threading.enumerate() if thread.name == "stepscope-writer"]


def test_sync_reaches_the_disk_in_the_background_and_on_close(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr("stepscope.runs.write.background.sync_data", synced.append)
    writer = RunWriter(run, run_id=run.name, heartbeat_s=0, fsync_s=0.02)
    writer.keyset(("a",)).write(0, (1.0,))
    until(lambda: len(synced) > 0)
    time.sleep(0.1)
    quiet = len(synced)
    time.sleep(0.1)
    assert len(synced) == quiet, "nothing new was written, so nothing is to be synced"
    writer.close(end())
    assert len(synced) > quiet


def test_the_age_of_a_segment_is_seen_by_the_thread(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logfile, "SMALL_BYTES", 10)
    writer = RunWriter(run, run_id=run.name, heartbeat_s=0, fsync_s=0.02)
    row = writer.keyset(("a",))
    row.write(0, (1.0,))
    stretch = writer._delivery.points.stretch
    assert stretch is not None
    assert stretch.left > 0
    monkeypatch.setattr(logfile, "SEGMENT_S", 0.0)
    until(lambda: stretch.left <= 0)
    row.write(1, (1.0,))
    writer.close(end())
    first, second = kinds(run)[:2]
    assert first == ["HEADER", "META", "DEFINE", "ROW", "HEADER", "DEFINE", "SEAL"]
    assert second[:4] == ["HEADER", "META", "DEFINE", "ROW"]


def test_a_queue_keeps_order_and_times_and_loses_nothing(run: Path) -> None:
    writer = quiet_writer(run, mode="queued")
    row = writer.keyset(("a",))
    for step in range(5000):
        row.write(step, (step * 0.5,))
    writer.media(Media(key="k", step=0, time=1.0, kind="image"), b"x" * 5000)
    writer.close(end())
    assert rows(run) == [(step, {"a": step * 0.5}) for step in range(5000)]
    times = row_times(run)
    assert times == sorted(times)
    assert payloads(run, Kind.BYTES)
    assert events(run)[-1].status == "finished"
    assert writer.dropped == 0


def test_flush_waits_for_the_queue(run: Path) -> None:
    writer = quiet_writer(run, mode="queued")
    for step in range(100):
        writer.keyset(("a",)).write(step, (1.0,))
    assert writer.flush()
    assert len(rows(run)) == 100
    writer.close()


def test_sixteen_threads_neither_lose_nor_mix_rows(run: Path) -> None:
    writer = quiet_writer(run)
    shared = writer.keyset(("thread", "n"))

    def log(thread: int) -> None:
        own = writer.keyset((f"t{thread}",))
        for n in range(200):
            shared.write(n, (thread, n))
            own.write(n, (n,))
            if n % 50 == 0:
                writer.event(Alert(time=1.0, title=str(thread)))

    threads = [threading.Thread(target=log, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close(end())
    found = sorted((values["thread"], values["n"]) for _, values in rows(run) if "thread" in values)
    assert found == [(thread, n) for thread in range(16) for n in range(200)]
    assert len(rows(run)) == 16 * 400
    assert len(events(run)) == 16 * 4 + 1


def test_a_signal_handler_may_log_and_close_in_the_middle_of_a_row(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The handler runs while the interrupted frame holds the lock: no deadlock, and the end is written."""
    writer = quiet_writer(run)
    row = writer.keyset(("a",))
    row.write(0, (0.0,))
    handled = []

    def handler(signum: int, frame: object) -> None:
        row.write(100, (1.0,))
        writer.event(Alert(time=1.0, title="from the handler"))
        assert writer.flush(timeout=1000)
        assert len(events(run)) == 1
        writer.close(End(time=1.0, status="preempted"))
        handled.append(signum)

    before = signal.signal(signal.SIGUSR1, handler)
    lock = writer._delivery.lock
    try:
        with lock:  # as if the signal came inside a write
            started = time.monotonic()
            os.kill(os.getpid(), signal.SIGUSR1)
            until(lambda: bool(handled))
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert time.monotonic() - started < 200
    assert [step for step, _ in rows(run)] == [0, 100]
    assert [type(event).__name__ for event in events(run)] == ["Alert", "End"]


def test_a_forked_child_writes_a_file_of_its_own(run: Path) -> None:
    writer = quiet_writer(run)
    row = writer.keyset(("a",))
    row.write(0, (0.0,))

    def child() -> None:
        row.write(1, (1.0,))
        writer.event(Alert(time=1.0, title="child"))

    pid = in_child(child)
    assert wait_for(pid) == 0
    row.write(2, (2.0,))
    writer.close(end())
    logs = sorted(read_logs(run), key=lambda log: log.header.role)
    assert [(log.header.role, log.header.pid) for log in logs] == [("run", os.getpid()), ("worker", pid)]
    assert [[Kind(frame.kind).name for frame in log.frames] for log in logs] == [
        ["HEADER", "META", "DEFINE", "ROW", "ROW", "EVENT", "HEADER", "DEFINE", "SEAL"],
        ["HEADER", "DEFINE", "ROW", "EVENT"],
    ]


def test_a_forked_child_does_not_repeat_what_waited_in_the_parent(run: Path) -> None:
    writer = quiet_writer(run, mode="queued")
    row = writer.keyset(("a",))
    for step in range(50):
        row.write(step, (1.0,))
    pid = in_child(lambda: (row.write(100, (1.0,)), writer.close())[0])  # type: ignore[func-returns-value]
    assert wait_for(pid) == 0
    writer.close()
    assert sorted(step for step, _ in rows(run)) == [*range(50), 100]


def test_a_child_that_logs_nothing_makes_no_file(run: Path) -> None:
    writer = quiet_writer(run)
    writer.keyset(("a",)).write(0, (1.0,))
    assert wait_for(in_child(lambda: None)) == 0
    writer.close()
    assert len(log_files(run)) == 1


def test_forks_while_threads_write_never_hang(run: Path) -> None:
    """The lock is often held by another thread at the moment of the fork; the child must not inherit that."""
    writer = RunWriter(run, run_id=run.name, heartbeat_s=0.01, fsync_s=0.01, mode="direct")
    stop = threading.Event()
    written = [0] * 4

    def log(thread: int) -> None:
        row = writer.keyset((f"t{thread}",))
        while not stop.is_set():
            row.write(written[thread], (1.0,))
            written[thread] += 1
            time.sleep(0)

    threads = [threading.Thread(target=log, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    child_row = writer.keyset(("child",))
    try:
        for n in range(40):
            assert wait_for(in_child(lambda n=n: child_row.write(n, (n,)))) == 0  # type: ignore[misc]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    writer.close(end())
    found = rows(run)
    assert sorted(step for step, values in found if "child" in values) == list(range(40))
    for thread in range(4):
        assert [step for step, values in found if f"t{thread}" in values] == list(range(written[thread]))


def test_a_dead_interpreter_makes_no_noise(run: Path) -> None:
    """A script that ends without closing its writer, with thread and backlog, says nothing on stderr."""
    script = (
        "import sys, pathlib\n"
        "from stepscope.runs.write.writer import RunWriter\n"
        f"path = pathlib.Path({str(run)!r})\n"
        "for mode in ('direct', 'queued'):\n"
        "    writer = RunWriter(path, run_id=path.name, heartbeat_s=0.001, fsync_s=0.001, mode=mode)\n"
        "    row = writer.keyset(('a',))\n"
        "    for n in range(2000):\n"
        "        row.write(n, (1.0,))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(rows(run)) >= 2000


def test_writing_does_not_load_torch_or_numpy() -> None:
    code = "import sys, stepscope.runs.write.writer; print(*(set(sys.modules) & {'torch', 'numpy', 'psutil'}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "\n"
