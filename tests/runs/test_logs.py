"""The reader of one log file: follows it while it grows, fast and slow ways agree, newer files do not break it."""

from __future__ import annotations

import struct
import sys
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from stepscope.records import Alert, Console, Media
from stepscope.runs.format.frames import ROW, Hole, Kind, encode
from stepscope.runs.read import bytesource, logs as logs_module
from stepscope.runs.read.logs import LogReader

from .rawlogs import BASE, RawLog, rows_in


def test_reads_rows_with_their_names_steps_and_times(tmp_path: Path) -> None:
    log = RawLog().define(1, "loss", "acc").row(1, 5, 0.5, 0.1, ticks=20_000).row(1, -6, float("nan"), 0.2)
    (batch,) = LogReader(log.write(tmp_path / "a.log")).poll()
    (rows,) = batch.rows
    assert batch.header == log.header
    assert rows.names == ("loss", "acc")
    assert rows.steps.tolist() == [5, -6]
    assert rows.times.tolist() == [BASE + 2.0, BASE]
    assert rows.seqs.tolist() == [2, 3]
    np.testing.assert_array_equal(rows.values, [[0.5, 0.1], [np.nan, 0.2]])


def test_a_poll_gives_only_what_is_new(tmp_path: Path) -> None:
    log = RawLog().define(0, "a")
    path = log.write(tmp_path / "a.log")
    reader = LogReader(path)
    assert rows_in(reader) == []
    for step in range(300):
        log.row(0, step, step / 2)
        if step % 7 == 0:
            log.write(path)
            first = max(0, step - 6)
            assert rows_in(reader) == [(s, {"a": s / 2}) for s in range(first, step + 1)]
    log.write(path)
    assert rows_in(reader) == [(s, {"a": s / 2}) for s in range(295, 300)]
    assert reader.poll() == []


def test_every_record_comes_in_its_order(tmp_path: Path) -> None:
    media = Media(key="x", step=1, time=2.0, kind="text", data=b"hello")
    alert = Alert(time=3.0, title="!", step=4)
    piece = Console(time=5.0, stream="stderr", text="ü\n", rewrite=True)
    log = RawLog().pack(Kind.MEDIA, media).event(alert).pack(Kind.CONSOLE, piece).heartbeat(9.0).heartbeat(8.0)
    log.raw(Kind.SEAL, b"")
    reader = LogReader(log.write(tmp_path / "a.log"))
    (batch,) = reader.poll()
    assert batch.media == [(1, media)]
    assert batch.events == [(2, alert)]
    assert batch.console == [(3, piece)]
    assert batch.heartbeat == 9.0
    assert batch.sealed
    assert reader.sealed


def test_wide_rows_keep_integers_exactly(tmp_path: Path) -> None:
    values = {"n": 2**63 + 1, "huge": str(10**400), "x": 0.5}
    log = RawLog().pack(Kind.WIDE, [BASE + 1, 3, values])
    (batch,) = LogReader(log.write(tmp_path / "a.log")).poll()
    (rows,) = batch.rows
    assert rows.names == ("n", "huge", "x")
    assert rows.exact == {(0, 0): 2**63 + 1, (0, 1): 10**400}
    assert rows.values.tolist() == [[float(2**63), float("inf"), 0.5]]
    assert rows.times.tolist() == [BASE + 1]


def test_bytes_are_found_by_their_hash(tmp_path: Path) -> None:
    log = RawLog(kind="media")
    for number in range(100):
        log.raw(Kind.BYTES, bytes([number]) * 32 + b"x" * number)
    path = log.write(tmp_path / "m.log")
    (batch,) = LogReader(path).poll()
    offset, length = batch.blobs[(b"\x07" * 32).hex()]
    assert path.read_bytes()[offset : offset + length] == b"x" * 7
    offset, length = batch.blobs[(b"\x63" * 32).hex()]
    assert path.read_bytes()[offset : offset + length] == b"x" * 99


# -- the fast way gives what the slow way gives -----------------------------------------------------------------

piece = st.one_of(
    st.tuples(st.just("row"), st.integers(0, 3), st.integers(1, 60)),
    st.tuples(st.just("console"), st.integers(0, 30), st.integers(1, 3)),
    st.tuples(st.just("define"), st.integers(0, 3), st.just(1)),
    st.tuples(st.just("unknown"), st.integers(0, 30), st.integers(1, 2)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(piece, max_size=25), st.booleans())
def test_mixed_frames_read_the_same_one_by_one_and_in_chains(tmp_path_factory, pieces, magic_inside) -> None:
    names = [("a",), ("b", "c"), ("d",), ("a", "e", "f")]
    log = RawLog()
    for number, own in enumerate(names):
        log.define(number, *own)
    expected = []
    step = 0
    for what, number, times in pieces:
        for _ in range(times):
            if what == "row":
                own = names[number]
                value = struct.unpack("<d", b"\xf5S\x03\x00\x10\x00\x00\x00")[0] if magic_inside else step / 3
                log.row(number, step, *[value] * len(own))
                expected.append((step, dict.fromkeys(own, value)))
                step += 1
            elif what == "console":
                log.pack(Kind.CONSOLE, Console(time=0.0, stream="stdout", text="x" * number))
            elif what == "define":
                log.define(number, *names[number])
            else:
                log.raw(77, b"y" * number)
    path = log.write(tmp_path_factory.mktemp("logs") / "a.log")
    fast = LogReader(path)
    assert rows_in(fast) == expected
    assert (fast.holes, fast.missing, fast.duplicates, fast.tail) == ([], 0, 0, 0)


def test_a_file_larger_than_a_piece_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bytesource, "PIECE", 1000)
    monkeypatch.setattr(logs_module, "_WINDOW", 700)
    log = RawLog().define(0, "a", "b", "c")
    for step in range(500):
        log.row(0, step, step, step + 1, step + 2)
        if step % 50 == 0:
            log.pack(Kind.CONSOLE, Console(time=0.0, stream="stdout", text="x" * 3 * step))
    reader = LogReader(log.write(tmp_path / "a.log"))
    assert rows_in(reader) == [(s, {"a": s, "b": s + 1, "c": s + 2}) for s in range(500)]
    assert reader.tail == 0


# -- what a newer version may write -----------------------------------------------------------------------------


def test_unknown_kinds_and_events_are_skipped_and_counted(tmp_path: Path) -> None:
    log = RawLog().define(0, "a").row(0, 1, 1.0).raw(200, b"from the future").pack(Kind.EVENT, {"event": "newer"})
    log.row(0, 2, 2.0)
    reader = LogReader(log.write(tmp_path / "a.log"))
    assert rows_in(reader) == [(1, {"a": 1.0}), (2, {"a": 2.0})]
    assert reader.unknown == 2
    assert reader.unreadable == 0
    assert reader.holes == []


def test_unknown_fields_are_ignored(tmp_path: Path) -> None:
    log = RawLog(header=False)
    fields = msgspec.to_builtins(RawLog().header)
    log.pack(Kind.HEADER, {**fields, "colour": "green"}).define(0, "a").row(0, 1, 1.0)
    log.pack(Kind.EVENT, {"event": "alert", "time": 1.0, "title": "t", "mood": 3})
    (batch,) = LogReader(log.write(tmp_path / "a.log")).poll()
    assert batch.header is not None
    assert batch.header.file_id == "f.points.0"
    assert [event.title for _seq, event in batch.events] == ["t"]


def test_a_newer_format_is_not_read_at_all(tmp_path: Path) -> None:
    reader = LogReader(RawLog(format=2).define(0, "a").row(0, 1, 1.0).write(tmp_path / "a.log"))
    assert rows_in(reader) == []
    assert reader.unsupported == 2
    assert reader.poll() == []


def test_frames_with_nonsense_inside_are_counted(tmp_path: Path) -> None:
    log = RawLog().define(0, "a").raw(Kind.DEFINE, b"\xc1").raw(Kind.ROW, b"short").raw(Kind.HEARTBEAT, b"1234567")
    log.raw(Kind.CHUNK, b"no chunk").raw(Kind.BYTES, b"no hash").pack(Kind.WIDE, [0.0, 2**70 // 2**7, {"a": "word"}])
    log.pack(Kind.MEDIA, {"key": "without the rest"}).row(0, 1, 1.0)
    reader = LogReader(log.write(tmp_path / "a.log"))
    assert rows_in(reader) == [(1, {"a": 1.0})]
    assert reader.unreadable == 7


# -- definitions ------------------------------------------------------------------------------------------------


def test_rows_wait_for_a_lost_definition_until_it_is_repeated(tmp_path: Path) -> None:
    log = RawLog().row(4, 1, 0.5).row(4, 2, 0.6)
    path = log.write(tmp_path / "a.log")
    reader = LogReader(path)
    assert rows_in(reader) == []
    assert reader.held_rows == 2
    log.row(4, 3, 0.7).define(4, "late").row(4, 4, 0.8).write(path)
    assert rows_in(reader) == [(1, {"late": 0.5}), (2, {"late": 0.6}), (3, {"late": 0.7}), (4, {"late": 0.8})]
    assert reader.held_rows == 0


def test_rows_that_do_not_fit_their_definition_are_never_given_names(tmp_path: Path) -> None:
    reader = LogReader(RawLog().define(0, "a", "b").row(0, 1, 1.0).write(tmp_path / "a.log"))
    assert rows_in(reader) == []
    assert reader.held_rows == 1


def test_a_redefined_keyset_names_only_what_follows(tmp_path: Path) -> None:
    log = RawLog().define(0, "a").row(0, 1, 1.0).define(0, "b").row(0, 2, 2.0)
    assert rows_in(LogReader(log.write(tmp_path / "a.log"))) == [(1, {"a": 1.0}), (2, {"b": 2.0})]


def test_rows_wait_for_a_lost_header_too(tmp_path: Path) -> None:
    log = RawLog().define(0, "a").row(0, 1, 1.0)
    path = tmp_path / "a.log"
    path.write_bytes(b"\0" * len(log.frames[0]) + log.data[len(log.frames[0]) :])
    reader = LogReader(path)
    assert rows_in(reader) == []
    log.write(path)
    assert rows_in(reader) == [(1, {"a": 1.0})]


# -- sections of compacted files --------------------------------------------------------------------------------


def test_a_compacted_file_comes_section_by_section(tmp_path: Path) -> None:
    log = RawLog(file_id="one").define(0, "a").row(0, 1, 1.0).raw(Kind.SEAL, b"")
    log.pack(Kind.HEADER, RawLog(file_id="two", base_time=5.0).header).define(0, "b").row(0, 2, 2.0)
    path = log.write(tmp_path / "a.log")
    batches = LogReader(path, sections=True).poll()
    assert [(batch.header.file_id, batch.rows[0].names, batch.sealed) for batch in batches if batch.header] == [
        ("one", ("a",), True),
        ("two", ("b",), False),
    ]
    plain = LogReader(path)
    assert [batch.header.file_id for batch in plain.poll() if batch.header] == ["one"]
    assert plain.unreadable == 1  # a stranger's header in a log is no reason to believe it


# -- trouble with the file --------------------------------------------------------------------------------------


def test_a_missing_or_unreadable_file_is_no_exception(tmp_path: Path) -> None:
    reader = LogReader(tmp_path / "none.log")
    assert reader.poll() == []
    assert isinstance(reader.error, FileNotFoundError)
    reader = LogReader(tmp_path)
    assert reader.poll() == []
    assert isinstance(reader.error, OSError)


def test_a_file_cut_back_by_its_writer_is_followed(tmp_path: Path) -> None:
    log = RawLog().define(0, "a").row(0, 1, 1.0)
    path = log.write(tmp_path / "a.log")
    reader = LogReader(path)
    path.write_bytes(log.data + b"\xf5S\x03")  # half a frame ...
    assert len(rows_in(reader)) == 1
    log.write(path)  # ... taken back
    assert rows_in(reader) == []
    log.row(0, 2, 2.0).write(path)
    assert rows_in(reader) == [(2, {"a": 2.0})]
    path.write_bytes(log.data[:30])
    assert rows_in(reader) == []


def test_holes_and_missing_frames_are_reported(tmp_path: Path) -> None:
    log = RawLog().define(0, "a")
    for step in range(100):
        log.row(0, step, step)
    data = bytearray(log.data)
    start = log.starts[52]
    data[start + 30] ^= 1
    path = tmp_path / "a.log"
    path.write_bytes(data)
    reader = LogReader(path)
    assert [step for step, _ in rows_in(reader)] == [*range(50), *range(51, 100)]
    assert reader.holes == [Hole(start, log.starts[53])]
    assert reader.missing == 1


def test_a_million_points_are_read_in_bulk(tmp_path: Path) -> None:
    """Ten scalars a row. With a call of a Python function for each row, reading takes a hundred times as long."""
    count = 100_000
    rows = np.zeros(
        count, dtype=[("head", "V16"), ("keyset", "<u4"), ("ticks", "<u4"), ("step", "<i8"), ("v", "<10f8")]
    )
    rows["step"] = np.arange(count)
    rows["ticks"] = np.arange(count) * 7
    rows["v"] = np.random.default_rng(0).normal(size=(count, 10))
    log = RawLog().define(0, *"abcdefghij")
    frames = [encode(Kind.ROW, number + 2, rows[number].tobytes()[16:]) for number in range(count)]
    path = tmp_path / "a.log"
    path.write_bytes(log.data + b"".join(frames))
    reader = LogReader(path)
    calls: Counter[str] = Counter()
    sys.setprofile(lambda frame, event, arg: calls.update([event]))
    try:
        batches = reader.poll()
    finally:
        sys.setprofile(None)
    assert calls["call"] + calls["c_call"] < count / 10
    np.testing.assert_array_equal(np.concatenate([rows.values for rows in batches[0].rows]), rows["v"])
    assert reader.offset == path.stat().st_size
    assert ROW.size == 16
