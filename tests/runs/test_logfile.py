from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from stepscope.common import clocks
from stepscope.records import FileHeader
from stepscope.runs.format.frames import Kind
from stepscope.runs.write import logfile
from stepscope.runs.write.logfile import LogFile

from .written import read_logs

Piece = tuple[int, bytes]


@pytest.fixture
def log(tmp_path: Path) -> LogFile:
    return LogFile(tmp_path, FileHeader(run_id="r", file_id="F", host="h", pid=1, base_time=0.0))


def put(log: LogFile, *sizes: int) -> int:
    log.ready(time.monotonic(), sum(sizes))
    return log.append([(Kind.EVENT, bytes(size)) for size in sizes])


def close(log: LogFile) -> None:
    log.leave()
    for fd in log.retired:
        os.close(fd)
    log.retired.clear()


def kinds(path: Path) -> list[list[str]]:
    return [[Kind(frame.kind).name for frame in log.frames] for log in read_logs(path)]


def failing_after(count: int, code: int, real: Callable[[int, bytes], int] = os.write) -> Callable[[int, bytes], int]:
    """An `os.write` that takes `count` bytes in all, then fails."""
    room = count

    def write(fd: int, data: bytes) -> int:
        nonlocal room
        if room == 0:
            raise OSError(code, os.strerror(code))
        done = real(fd, memoryview(data)[:room])
        room -= done
        return done

    return write


def test_the_first_frame_of_every_segment_says_who_writes(log: LogFile, tmp_path: Path) -> None:
    put(log, 10)
    log.seal()
    put(log, 10)
    close(log)
    assert kinds(tmp_path) == [["HEADER", "EVENT", "HEADER", "SEAL"], ["HEADER", "EVENT"]]
    headers = [each.header for each in read_logs(tmp_path)]
    assert [header.segment for header in headers] == [0, 1]
    assert len({header.file_id for header in headers}) == 2


def test_a_segment_ends_at_its_size_and_a_stretch_before(
    log: LogFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logfile, "SEGMENT_BYTES", 4000)
    monkeypatch.setattr(logfile, "STRETCH_BYTES", 1000)
    stretches = set()
    for _ in range(20):
        put(log, 484)
        stretches.add(log.stretch)
    close(log)
    assert [names.count("EVENT") for names in kinds(tmp_path)] == [7, 7, 6]
    assert all(names.count("HEADER") >= 3 for names in kinds(tmp_path)), "one in each stretch"
    assert len(stretches) > 8


def test_a_segment_ends_by_age_only_if_there_is_something_in_it(log: LogFile, monkeypatch: pytest.MonkeyPatch) -> None:
    put(log, 100)
    later = time.monotonic() + logfile.SEGMENT_S + 1
    assert not log.is_due(later)
    assert log.is_due(time.monotonic() + logfile.OLDEST_S + 1)
    put(log, logfile.SMALL_BYTES)
    assert not log.is_due(time.monotonic())
    assert log.is_due(later)
    close(log)


def test_times_go_on_when_the_clock_is_set_back(log: LogFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(log, 1)
    real = time.time
    monkeypatch.setattr(clocks, "time", lambda: real() - 3600)
    assert not log.is_due(time.monotonic())
    log.seal()
    put(log, 1)
    close(log)
    first, second = (each.header.base_time for each in read_logs(tmp_path))
    assert 0 <= second - first < 5


def test_a_clock_that_was_set_forward_or_a_machine_that_slept_begins_a_segment(
    log: LogFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(log, 1)
    real = time.time
    monkeypatch.setattr(clocks, "time", lambda: real() + 3600)
    put(log, 1)
    put(log, 1)
    close(log)
    first, second = (each.header.base_time for each in read_logs(tmp_path))
    assert 3595 < second - first < 3605


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.ESTALE, errno.EAGAIN])
def test_after_a_failure_at_any_byte_only_whole_frames_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    for room in range(0, 130, 7):
        folder = tmp_path / str(room)
        folder.mkdir()
        log = LogFile(folder, FileHeader(run_id="r", file_id="F", host="h", pid=1, base_time=0.0))
        put(log, 1)
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", failing_after(room, code))
            whole = put(log, 20, 20, 20)
        assert whole == room // 36 if room < 108 else whole == 3
        if whole < 3:
            put(log, *[20] * (3 - whole))
        close(log)
        logs = read_logs(folder)
        assert all(each.tail == 0 and not each.holes for each in logs)
        assert sum(names.count("EVENT") for names in kinds(folder)) == 4
        assert len(logs) == (1 if code in (errno.ENOSPC, errno.EDQUOT, errno.EAGAIN) or whole == 3 else 2)


def test_a_tear_that_cannot_be_cut_off_ends_the_segment(
    log: LogFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(log, 1)

    def refused(fd: int, size: int) -> None:
        raise OSError(errno.EIO, "no")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", failing_after(10, errno.ENOSPC))
        patch.setattr(os, "ftruncate", refused)
        assert put(log, 50) == 0
    assert put(log, 50) == 1
    close(log)
    assert kinds(tmp_path) == [["HEADER", "EVENT"], ["HEADER", "EVENT"]]
    assert [each.tail for each in read_logs(tmp_path)] == [10, 0]


def test_a_disk_that_never_takes_a_byte_does_not_fill_with_empty_files(
    log: LogFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", failing_after(0, errno.EIO))
        for _ in range(20):
            assert put(log, 5) == 0
    assert list(tmp_path.iterdir()) == []
    put(log, 5)
    close(log)
    assert kinds(tmp_path) == [["HEADER", "EVENT"]]


def test_an_interrupt_in_the_middle_of_a_write_neither_skips_nor_repeats_a_number(
    log: LogFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write

    def interrupted(fd: int, data: bytes) -> int:
        real(fd, data)
        raise KeyboardInterrupt

    put(log, 1)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            put(log, 2)
    put(log, 3)
    close(log)
    assert kinds(tmp_path) == [["HEADER", "EVENT", "EVENT"], ["HEADER", "EVENT"]]


def test_a_deleted_file_is_rescued_with_all_that_was_in_it(log: LogFile, tmp_path: Path) -> None:
    put(log, 10, 20)
    assert not log.is_deleted()
    assert log.path is not None
    name = log.path.name
    log.path.unlink()
    assert log.is_deleted()
    new = tmp_path / "new"
    new.mkdir()
    log.rescue(new)
    put(log, 30)
    close(log)
    assert [file.name for file in new.iterdir()] == [name]
    assert kinds(new) == [["HEADER", "EVENT", "EVENT", "HEADER", "EVENT"]]
