"""No bytes make the reader raise, and none make it give back a wrong value."""

from __future__ import annotations

import random
import resource
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from stepscope.records import Alert, Console, Media
from stepscope.runs.format.frames import HEADER, MAGIC, Hole, Kind, encode
from stepscope.runs.read import frame_scanner, logs
from stepscope.runs.read.logs import LogReader

from .rawlogs import RawLog, rows_in


def small_log(rows: int = 12) -> RawLog:
    """A log with a bit of everything; row `s` holds s / 3 and -s."""
    log = RawLog().define(0, "a", "b")
    for step in range(rows):
        log.row(0, step, step / 3, -step, ticks=step)
        if step == 4:
            log.event(Alert(time=1.0, title="x")).pack(Kind.CONSOLE, Console(time=1.0, stream="stdout", text="hi"))
        if step == 8:
            log.define(0, "a", "b").heartbeat(5.0)
    return log


def truth(rows: int = 12) -> dict[int, dict[str, float]]:
    return {step: {"a": step / 3, "b": -step} for step in range(rows)}


def assert_true(found: list[tuple[int, dict[str, float]]], rows: int = 12) -> None:
    expected = truth(rows)
    assert all(expected.get(step) == values for step, values in found)
    assert len({step for step, _ in found}) == len(found), "a row came twice"


@pytest.fixture(params=["one by one", "in chains"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of reading frames must survive the same damage."""
    if request.param == "in chains":
        monkeypatch.setattr(logs, "_MANY", 1)
        monkeypatch.setattr(frame_scanner, "_WORTH_IT", 2)
    return str(request.param)


def test_truncated_at_every_byte_gives_the_rows_before(tmp_path: Path, way: str) -> None:
    log = small_log()
    path = tmp_path / "a.log"
    data = log.data
    ends = [start + len(frame) for start, frame in zip(log.starts, log.frames, strict=True)]
    row_ends = [end for end, frame in zip(ends, log.frames, strict=True) if frame[2] == Kind.ROW]
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        for final in (False, True):
            reader = LogReader(path)
            assert rows_in(reader, final) == list(truth().items())[: sum(end <= size for end in row_ends)]
            assert reader.holes == []
            assert reader.tail == size - max([0, *(end for end in ends if end <= size)])


def test_each_byte_flipped_costs_one_frame_and_nothing_else(tmp_path: Path, way: str) -> None:
    log = small_log()
    path = tmp_path / "a.log"
    data = log.data
    kinds = {start: frame[2] for start, frame in zip(log.starts, log.frames, strict=True)}
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= (0x01, 0x80, 0xFF, 0x10)[place % 4]
        path.write_bytes(damaged)
        reader = LogReader(path)
        found = rows_in(reader, final=True)
        assert_true(found)
        hit = max(start for start in log.starts if start <= place)
        if kinds[hit] == Kind.HEADER:
            assert found == []
            assert reader.held_rows == 12
        else:
            assert len(found) == (11 if kinds[hit] == Kind.ROW else 12), place
        last = hit == log.starts[-1]
        assert (reader.tail > 0) if last else (len(reader.holes) == 1)


def test_a_zeroed_or_garbled_tail_gives_only_what_is_true(tmp_path: Path, way: str) -> None:
    log = small_log()
    path = tmp_path / "a.log"
    chance = random.Random(3)
    for _ in range(300):
        cut = chance.randrange(len(log.data))
        tail = len(log.data) - cut
        filler = bytes(tail) if chance.random() < 0.5 else chance.randbytes(tail + chance.randrange(50))
        path.write_bytes(log.data[:cut] + filler)
        assert_true(rows_in(LogReader(path)))


def test_a_tail_of_zeros_that_heals_is_read_without_a_restart(tmp_path: Path, way: str) -> None:
    """As a network file system shows it: the size first, the bytes later."""
    log = small_log(60)
    path = tmp_path / "a.log"
    for cut in range(0, len(log.data), 97):
        path.write_bytes(log.data[:cut] + bytes(len(log.data) - cut))
        reader = LogReader(path)
        found = rows_in(reader)
        log.write(path)
        found += rows_in(reader)
        assert found == list(truth(60).items())
        assert (reader.tail, reader.holes) == (0, [])


def test_a_page_that_comes_late_heals_its_hole(tmp_path: Path, way: str) -> None:
    """Pages of a file may be written back in any order: later frames are there before earlier ones."""
    log = small_log(200)
    path = tmp_path / "a.log"
    data = log.data
    for start in range(len(log.frames[0]), len(data) - 600, 333):
        torn = bytearray(data)
        torn[start : start + 512] = bytes(512)
        path.write_bytes(torn)
        reader = LogReader(path)
        found = rows_in(reader)
        assert_true(found, 200)
        assert len(found) > 180
        assert len(reader.holes) == 1
        log.write(path)
        found += rows_in(reader)
        assert sorted(found) == sorted(truth(200).items(), key=lambda one: one[0])
        assert (reader.holes, reader.missing, reader.held_rows) == ([], 0, 0)


def test_frames_that_come_twice_count_once(tmp_path: Path, way: str) -> None:
    log = small_log(50)
    path = tmp_path / "a.log"
    starts = [*log.starts, len(log.data)]
    for first, last in ((3, 9), (0, 40), (10, 11)):
        again = log.data[starts[first] : starts[last]]
        for at in (last, len(starts) - 1):
            path.write_bytes(log.data[: starts[at]] + again + log.data[starts[at] :])
            reader = LogReader(path)
            assert rows_in(reader) == list(truth(50).items())
            assert reader.duplicates == last - first
            assert reader.missing == 0


def test_a_log_that_was_logged_as_a_file_is_not_read_as_one(tmp_path: Path, way: str) -> None:
    """A half-written picture may hold whole frames of another log: they are not ours."""
    inner = RawLog().define(0, "a", "b")
    for step in range(100, 140):
        inner.row(0, step, 666.0, 666.0)
    log = small_log(12)
    log.pack(Kind.MEDIA, Media(key="f", step=1, time=0.0, kind="file", data=inner.data))
    path = tmp_path / "a.log"
    for size in range(log.starts[-1], len(log.data), 23):
        path.write_bytes(log.data[:size])
        for final in (False, True):
            assert rows_in(LogReader(path), final) == list(truth().items())
    damaged = bytearray(log.row(0, 12, 4.0, -12).data)
    damaged[log.starts[-2] + 20] ^= 1
    path.write_bytes(damaged)
    assert rows_in(LogReader(path)) == [*truth().items(), (12, {"a": 4.0, "b": -12})]


def test_a_length_that_claims_everything_allocates_nothing(tmp_path: Path) -> None:
    """Headers with hostile lengths, read with little memory to spend."""
    path = tmp_path / "a.log"
    evil = b"".join(
        HEADER.pack(MAGIC, kind, 0, length, 99, 0) + b"x" * 8
        for kind in range(14)
        for length in (2**32 - 1, 2**31, 64 << 20, 63 << 20, 17, 8, 0)
    )
    log = small_log()
    cut = log.starts[6]
    path.write_bytes(log.data[:cut] + evil + log.data[cut:])
    script = f"""
import resource, sys
from pathlib import Path
import numpy
from stepscope.runs.read.logs import LogReader
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (48 << 20), used + (48 << 20)))
reader = LogReader({str(path)!r})
batches = reader.poll(final=True)
print(sum(len(rows.seqs) for batch in batches for rows in batch.rows), len(reader.holes))
"""
    if not Path("/proc/self/statm").exists() or not hasattr(resource, "RLIMIT_AS"):
        pytest.skip("needs /proc and RLIMIT_AS")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert done.stderr == ""
    assert done.stdout.split() == ["12", "1"]


def test_many_hostile_headers_do_not_take_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_SEARCH_BYTES", 8 << 20)
    path = tmp_path / "a.log"
    evil = HEADER.pack(MAGIC, Kind.ROW, 0, 200_000, 5, 0) * 20_000
    log = small_log()
    path.write_bytes(log.frames[0] + evil + b"".join(log.frames[1:]))
    assert rows_in(LogReader(path)) == list(truth().items())


# -- fuzz -------------------------------------------------------------------------------------------------------

frames = st.builds(
    lambda kind, seq, payload: encode(kind, seq, payload),
    st.integers(0, 14),
    st.integers(0, 40),
    st.one_of(st.binary(max_size=60), st.binary(min_size=16, max_size=16).map(lambda x: x + bytes(16))),
)
garbage = st.one_of(st.binary(max_size=80), st.just(MAGIC), frames, st.just(b"\0" * 64))


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(garbage, max_size=12), st.booleans(), st.booleans())
def test_any_bytes_are_read_without_an_exception(tmp_path_factory, way, pieces, sections, final) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "a.log"
    path.write_bytes(b"".join(pieces))
    reader = LogReader(path, sections=sections)
    for _ in range(2):
        reader.poll(final)
    assert reader.offset <= path.stat().st_size


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_damage_to_a_log_gives_no_wrong_value(tmp_path_factory, way, data) -> None:
    log = small_log(40)
    raw = bytearray(log.data)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(raw) - 1))
        what = data.draw(st.sampled_from(["flip", "zero", "cut", "insert", "repeat"]))
        size = data.draw(st.integers(1, 200))
        if what == "flip":
            raw[start] ^= data.draw(st.integers(1, 255))
        elif what == "zero":
            raw[start : start + size] = bytes(len(raw[start : start + size]))
        elif what == "cut":
            del raw[start : start + size]
        elif what == "insert":
            raw[start:start] = data.draw(st.binary(max_size=60))
        else:
            raw[start:start] = raw[start : start + size]
        if not raw:
            break
    path = tmp_path_factory.mktemp("fuzz") / "a.log"
    path.write_bytes(raw)
    reader = LogReader(path)
    found = rows_in(reader)
    assert_true(found, 40)
    path.write_bytes(bytes(raw) + struct.pack("<d", 1.0))
    found += rows_in(reader, final=True)
    assert_true(found, 40)
    assert all(isinstance(hole, Hole) and hole.start < hole.end for hole in reader.holes)
