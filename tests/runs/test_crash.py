"""Writers that are killed at random moments: what `write` returned from must be there, whole and right."""

from __future__ import annotations

import ctypes
import mmap
import os
import resource
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from tests.faults.rounds import chance, note_tries, times

from stepscope.records import Media
from stepscope.runs.format.frames import Frame, Kind, scan
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import log_files
from stepscope.runs.write import logfile
from stepscope.runs.write.writer import RunWriter

from .written import in_child, new_run, payloads, quiet_writer, read_logs, rows, wait_for

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
KILLS = times(200)


class Acknowledged:
    """Counters in memory shared with a child, written right after a call returned; they outlive its death."""

    def __init__(self, count: int = 1) -> None:
        self._shared = mmap.mmap(-1, 8 * count)
        self._numbers = memoryview(self._shared).cast("q")

    def __getitem__(self, index: int) -> int:
        return self._numbers[index]

    def __setitem__(self, index: int, value: int) -> None:
        self._numbers[index] = value

    def close(self) -> None:
        self._numbers.release()
        self._shared.close()


@pytest.fixture
def acknowledged() -> Iterator[Acknowledged]:
    counters = Acknowledged(64)
    yield counters
    counters.close()


def bare_run(store: Path) -> Path:
    """A run folder without its `meta.json`, whose syncs would take most of the time of hundreds of kills."""
    path = store / new_run_id()
    path.mkdir()
    return path


def kill_when(pid: int, ready: Callable[[], bool], pause: float) -> None:
    """SIGKILL `pid` a moment after it has begun to work."""
    deadline = time.monotonic() + 300
    while not ready() and time.monotonic() < deadline:
        time.sleep(0.0002)
    time.sleep(pause)
    os.kill(pid, signal.SIGKILL)
    assert wait_for(pid) == -signal.SIGKILL


def log_until_killed(run: Path, acknowledged: Acknowledged, index: int = 0) -> None:
    writer = quiet_writer(run)
    few, many = writer.keyset(("a",)), writer.keyset(tuple(f"k{n}" for n in range(10)))
    step = 0
    while True:
        few.write(step, (step,)) if step % 2 else many.write(step, [step + n / 16 for n in range(10)])
        step += 1
        acknowledged[index] = step


def assert_all_there(run: Path, acknowledged: int) -> None:
    found = rows(run)
    steps = [step for step, _ in found]
    assert steps == list(range(len(steps)))
    assert acknowledged <= len(steps) <= acknowledged + 1, "one row may have been written and not acknowledged"
    for step, values in found:
        assert list(values.values()) == ([step] if step % 2 else [step + n / 16 for n in range(10)])


def test_no_acknowledged_point_is_lost_over_hundreds_of_kills(
    store: Path, acknowledged: Acknowledged, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Small segments, so that kills also fall into the rolling of one.
    monkeypatch.setattr(logfile, "SEGMENT_BYTES", 20_000)
    monkeypatch.setattr(logfile, "STRETCH_BYTES", 5_000)
    dice = chance(7)
    total = 0
    note_tries(KILLS)
    for _ in range(KILLS):
        run = bare_run(store)
        acknowledged[0] = 0
        pid = in_child(lambda run=run: log_until_killed(run, acknowledged))  # type: ignore[misc]
        kill_when(pid, lambda: acknowledged[0] > 0, dice.random() * 0.003)
        assert_all_there(run, acknowledged[0])
        total += acknowledged[0]
    assert total > KILLS


def test_a_kill_before_the_first_row_leaves_a_run_that_can_be_read(store: Path, acknowledged: Acknowledged) -> None:
    dice = chance(8)
    for _ in range(30):
        run = bare_run(store)
        acknowledged[0] = 0
        pid = in_child(lambda run=run: log_until_killed(run, acknowledged))  # type: ignore[misc]
        time.sleep(dice.random() * 0.003)
        os.kill(pid, signal.SIGKILL)
        wait_for(pid)
        assert_all_there(run, acknowledged[0])


def test_a_kill_in_the_middle_of_large_media_costs_only_that_one(store: Path, acknowledged: Acknowledged) -> None:
    dice = chance(9)
    blocks = [bytes([n]) * (8 << 20) for n in range(3)]

    def work(run: Path) -> None:
        writer = quiet_writer(run)
        row = writer.keyset(("a",))
        for step in range(10_000):
            data = blocks[step % 3][: 1 << 20] if step % 2 else blocks[step % 3]
            writer.media(Media(key="k", step=step, time=1.0, kind="video"), data[: len(data) - step])
            row.write(step, (step,))
            acknowledged[0] = step + 1

    for _ in range(10):
        run = bare_run(store)
        acknowledged[0] = 0
        pid = in_child(lambda run=run: work(run))  # type: ignore[misc]
        kill_when(pid, lambda: acknowledged[0] > 1, dice.random() * 0.03)
        steps = [step for step, _ in rows(run)]
        assert steps == list(range(len(steps)))
        assert len(steps) >= acknowledged[0]
        stored = {payload[:32].hex(): len(payload) - 32 for payload in payloads(run, Kind.BYTES)}
        media = [msgspec.msgpack.decode(payload, type=Media) for payload in payloads(run, Kind.MEDIA)]
        assert len(media) >= acknowledged[0]
        for item in media:
            assert item.sha256 is not None
            blob = run / "blobs" / item.sha256
            assert stored.get(item.sha256, blob.stat().st_size if blob.exists() else -1) == item.size
        for file in run.rglob("*"):
            file.unlink() if file.is_file() else None


def test_a_whole_process_group_killed_at_once_loses_nothing(store: Path, acknowledged: Acknowledged) -> None:
    for _ in range(5):
        run = new_run(store)

        def trainer(run: Path = run) -> None:
            os.setpgid(0, 0)
            for index in range(1, 4):
                in_child(lambda index=index: log_until_killed(run, acknowledged, index))  # type: ignore[misc]
            log_until_killed(run, acknowledged, 0)

        for index in range(4):
            acknowledged[index] = 0
        pid = in_child(trainer)
        deadline = time.monotonic() + 300
        while min(acknowledged[index] for index in range(4)) < 20 and time.monotonic() < deadline:
            time.sleep(0.001)
        os.killpg(pid, signal.SIGKILL)
        wait_for(pid)
        time.sleep(0.01)
        counts = sorted(sum(frame.kind == Kind.ROW for frame in log.frames) for log in read_logs(run))
        expected = sorted(acknowledged[index] for index in range(4))
        assert len(counts) == 4
        assert all(wanted <= got <= wanted + 1 for wanted, got in zip(expected, counts, strict=True))


@pytest.mark.parametrize("death", ["os._exit", "segfault", "exec"])
def test_a_process_that_dies_without_a_word_keeps_what_it_logged(store: Path, death: str) -> None:
    run = new_run(store)

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        writer = RunWriter(run, run_id=run.name, mode="direct")
        row = writer.keyset(("a",))
        for step in range(100):
            row.write(step, (1.0,))
        if death == "segfault":
            signal.signal(signal.SIGSEGV, signal.SIG_DFL)
            ctypes.string_at(0)
        elif death == "exec":
            os.execv(sys.executable, [sys.executable, "-S", "-c", ""])
        os._exit(0)

    status = wait_for(in_child(work))
    assert status == (-signal.SIGSEGV if death == "segfault" else 0)
    assert len(rows(run)) == 100


def test_sixty_four_processes_share_a_run(store: Path) -> None:
    run = new_run(store)

    def rank(number: int) -> None:
        writer = quiet_writer(run, rank=number)
        row = writer.keyset(("rank", "n"))
        for n in range(50):
            row.write(n, (number, n))
        writer.close()

    pids = [in_child(lambda number=number: rank(number)) for number in range(64)]  # type: ignore[misc]
    assert [wait_for(pid) for pid in pids] == [0] * 64
    logs = read_logs(run)
    assert sorted(log.header.rank for log in logs) == list(range(64))
    assert len({log.header.file_id for log in logs}) == 64
    assert sorted((values["rank"], values["n"]) for _, values in rows(run)) == [
        (number, n) for number in range(64) for n in range(50)
    ]


def test_spawned_processes_write_to_the_run_of_their_parent(store: Path) -> None:
    run = new_run(store)
    script = (
        "import sys, pathlib\n"
        "from stepscope.runs.write.writer import RunWriter\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "writer = RunWriter(path, run_id=path.name, role='worker', mode='direct')\n"
        "writer.keyset(('a',)).write(int(sys.argv[2]), (1.0,))\n"
    )
    started = [subprocess.Popen([sys.executable, "-c", script, str(run), str(n)]) for n in range(3)]
    assert [process.wait(300) for process in started] == [0, 0, 0]
    assert sorted(step for step, _ in rows(run)) == [0, 1, 2]


def test_every_truncation_of_a_log_gives_a_prefix_of_it(store: Path) -> None:
    run = new_run(store)
    writer = quiet_writer(run)
    for step in range(30):
        writer.keyset(("a", "b")).write(step, (step, -step))
    writer.close()
    data = log_files(run)[0].read_bytes()
    whole = [frame for frame in scan(data) if isinstance(frame, Frame)]
    for size in range(len(data)):
        found = [frame for frame in scan(data[:size]) if isinstance(frame, Frame)]
        assert [(f.seq, bytes(f.payload)) for f in found] == [(f.seq, bytes(f.payload)) for f in whole if f.end <= size]


def test_rows_of_one_process_are_in_the_order_of_their_time(store: Path) -> None:
    run = new_run(store)
    writer = quiet_writer(run)
    for step in range(200):
        writer.keyset(("a",)).write(step, (1.0,))
    writer.close()
    ticks = [struct.unpack_from("<II", payload)[1] for payload in payloads(run, Kind.ROW)]
    assert ticks == sorted(ticks)
