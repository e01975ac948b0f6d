"""Traces as they are found: packed, cut off, broken, of other devices; and files that are none."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, cast

import pytest

from stepscope.errors import BadData, NotFound, UsageError
from stepscope.profile.trace import reading, source
from stepscope.profile.trace.events import Events
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.read import read_ranks, read_trace
from stepscope.profile.trace.trace import Trace

Write = Callable[..., Path]
Op = Callable[..., dict[str, Any]]


def read(path: Path, scanner: str) -> Events:
    return read_trace(path, scanner=cast(Literal["wheel"], scanner), cache=False)


def names(events: Events) -> list[str]:
    return [events.names[index] for index in events.name.tolist()]


def test_gzip_and_plain_give_the_same(write: Write, make_op: Op, scanner: str, same: Callable[..., None]) -> None:
    plain = write([make_op("a", 1.5), make_op("b", 2)], host="x")
    packed = write(gzip.compress(plain.read_bytes()), "trace.json.gz")
    same(read(packed, scanner), read(plain, scanner))
    assert read(packed, scanner).header.json_bytes == plain.stat().st_size


def test_two_gzips_in_one_file_are_one(write: Write, make_op: Op, scanner: str) -> None:
    data = json.dumps([make_op("a", 1), make_op("b", 2)]).encode()
    path = write(gzip.compress(data[:30]) + gzip.compress(data[30:]) + b"\x00" * 512, "t.json.gz")
    events = read(path, scanner)
    assert names(events) == ["a", "b"]
    assert not events.header.truncated


def test_of_a_file_cut_anywhere_all_whole_events_are_kept(write: Write, make_op: Op, scanner: str) -> None:
    written = [make_op(f"op {i} }},{{ ]", i, args={"Input Dims": [[i, 2], []], "x": {"y": "é"}}) for i in range(4)]
    head = '{"host": "a", "traceEvents": [\n'
    parts = [json.dumps(event, ensure_ascii=False) for event in written]
    data = (head + ",\n".join(parts) + '\n], "end": [1]}').encode()
    ends = [len((head + ",\n".join(parts[: i + 1])).encode()) for i in range(4)]
    for cut in range(len(head), ends[0]):
        with pytest.raises(BadData, match="no event that can be read"):
            read(write(data[:cut]), scanner)
    for cut in range(ends[0], len(data)):
        events = read(write(data[:cut]), scanner)
        assert len(events) == sum(end <= cut for end in ends), cut
        assert events.header.truncated
        assert events.header.repaired == events.header.skipped == 0, cut
    assert not read(write(data), scanner).header.truncated


def test_of_a_gzip_cut_anywhere_what_can_be_unpacked_is_kept(write: Write, make_op: Op, scanner: str) -> None:
    data = json.dumps([make_op(f"op{i}{zlib.crc32(str(i).encode())}", i) for i in range(200)]).encode()
    packed = gzip.compress(data)
    counts = []
    for cut in (len(packed) // 2, len(packed) - 9, len(packed) - 1):
        events = read(write(packed[:cut], "t.json.gz"), scanner)
        assert events.header.truncated
        counts.append(len(events))
    assert 50 < counts[0] < counts[1]
    assert counts[1:] == [200, 200]


def test_a_damaged_gzip_keeps_what_came_before(write: Write, make_op: Op, scanner: str) -> None:
    packed = bytearray(gzip.compress(json.dumps([make_op(f"{i * 7919}", i) for i in range(3000)]).encode()))
    packed[len(packed) // 2] ^= 0xFF
    events = read(write(bytes(packed), "t.json.gz"), scanner)
    assert events.header.truncated
    assert names(events)[:1000] == [f"{i * 7919}" for i in range(1000)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ('epoch "1"', 'epoch "1"'),
        ('a "b", "c": "d" e', None),
        ('"', '"'),
        ("C:\\Users\\x", "C:\\Users\\x"),
        ("two\nlines", "two\nlines"),
        ('x", "dur": 5', None),
    ],
)
def test_names_with_quotes_as_torch_writes_them(write: Write, scanner: str, name: str, expected: str | None) -> None:
    """Where a name looks like the JSON around it nobody can tell; but no other event is lost by it."""
    event = (
        '{"ph": "X", "cat": "user_annotation", "name": "%s", "pid": 1, "tid": 1, "ts": %d, "dur": 2, "args": {"a": 1}}'
    )
    data = ",\n  ".join([event % ("before", 1), event % (name, 2), event % ("after", 3), event % (name, 4)])
    events = read(write(f'{{"traceEvents": [\n  {data}\n ], "x": 1}}'.encode()), scanner)
    assert [one for one in names(events) if one in {"before", "after"}] == ["before", "after"]
    assert events.header.fields == {"x": 1}
    if expected is not None:
        assert names(events) == ["before", expected, "after", expected]
        assert (events.header.repaired, events.header.skipped) == (2, 0)
        assert events.number("a").tolist() == [1, 1, 1, 1]
        assert events.start.tolist() == [1000, 2000, 3000, 4000]


def test_events_that_are_hopeless_are_counted(write: Write, make_op: Op, scanner: str) -> None:
    good = json.dumps(make_op("good", 1))
    data = f'[{good}, 5, "x", [1], {{"ph" "X"}}, {good}, {{"ph": "X", "ts": "soon"}}]'
    events = read(write(data.encode()), scanner)
    assert names(events) == ["good", "good"]
    assert events.header.skipped == 5


def test_infinities_of_cpp_are_mended(write: Write, scanner: str) -> None:
    data = b'[{"ph": "X", "ts": 1, "dur": 2, "args": {"memory bandwidth (GB/s)": inf, "bytes": 4}}]'
    events = read(write(data), scanner)
    assert (events.header.repaired, len(events)) == (1, 1)
    assert events.arguments(0) == {"bytes": 4}


def test_bytes_that_are_no_text_are_shown_as_such(write: Write, scanner: str) -> None:
    events = read(
        write(b'[{"ph": "X", "ts": 1, "name": "a\xff\xc3"}, {"ph": "X", "ts": 2, "name": "\xc3\xa9"}]'), scanner
    )
    assert names(events) == ["a\ufffd\ufffd", "é"]
    assert "UTF-8" in events.header.notes[0]


def test_characters_between_two_pieces_are_whole(write: Write, scanner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write('[{"ph": "X", "ts": 1, "name": "aé€😀b"}]'.encode())
    for size in range(1, 12):
        monkeypatch.setattr(reading, "_PIECE", size)
        events = read(path, scanner)
        assert (names(events), events.header.notes) == (["aé€😀b"], ())


def test_half_a_surrogate_pair_can_be_shown(write: Write, scanner: str) -> None:
    events = read(write(b'[{"ph": "X", "ts": 1, "name": "a\\ud800", "args": {"k": "\\udc00b"}}]'), scanner)
    assert (names(events), events.arguments(0)) == (["a\ufffd"], {"k": "\ufffdb"})
    assert events.header.repaired == 0


def test_begin_and_end_are_one_span(write: Write, scanner: str) -> None:
    def half(ph: str, ts: int, name: str = "", **args: Any) -> dict[str, Any]:
        return {"ph": ph, "cat": "c", "name": name, "pid": "p", "tid": "main", "ts": ts, "args": args}

    halves = [half("B", 1, "a", x=1), half("B", 2, "b"), half("E", 3, y=2), half("E", 9, x=5), half("B", 10, "open")]
    events = read(write(halves), scanner)
    assert names(events) == ["a", "b", "open"]
    assert events.dur.tolist() == [8000, 1000, -1]
    assert bytes(events.ph) == b"XXB"
    assert events.lanes == (("p", "main"),)
    assert [events.arguments(row) for row in range(3)] == [{"x": 1.0}, {"y": 2.0}, {}]


@pytest.mark.parametrize("ending", ["]", "", ",", ",\n]", "\n"])
def test_lists_alone_are_traces_even_unclosed(write: Write, make_op: Op, scanner: str, ending: str) -> None:
    data = json.dumps([make_op("a", 1), make_op("b", 2)])[:-1] + ending
    events = read(write(data.encode()), scanner)
    assert names(events) == ["a", "b"]
    assert events.header.truncated is not ending.endswith("]")


@pytest.mark.parametrize("device", ["cuda", "hip", "xpu", "mtia"])
def test_devices_have_dialects(write: Write, scanner: str, device: str) -> None:
    events = [
        {"ph": "X", "cat": f"{device}_runtime", "name": "launch", "pid": 1, "tid": 1, "ts": 1, "dur": 1,
         "args": {"correlation": 7}},
        {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 2, "dur": 3, "args": {"correlation": 7}},
        {"ph": "X", "cat": "gpu_memcpy" if device == "cuda" else f"{device}_memcpy", "name": "copy", "pid": 0,
         "tid": 7, "ts": 6, "dur": 1},
        {"ph": "X", "cat": "of the future", "name": "?", "pid": 0, "tid": 7, "ts": 6, "dur": 1},
    ]  # fmt: skip
    trace = Trace(read(write(events), scanner))
    assert trace.kind.tolist() == [Kind.RUNTIME, Kind.KERNEL, Kind.MEMCPY, Kind.OTHER]
    assert trace.launch.tolist() == [-1, 0, -1, -1]


def test_times_are_unix_nanoseconds_to_the_last(write: Write, make_op: Op, scanner: str) -> None:
    base = 1790857026000000000
    path = write([make_op("a", 3888861124456.847, 16860.929)], baseTimeNanoseconds=base)
    events = read(path, scanner)
    assert (events.start.tolist(), events.dur.tolist()) == ([base + 3888861124456847], [16860929])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"hello", "starts with b'hello'"),
        (b"\x1f\x8b\x08\x00garbage", "empty"),
        (b'{"a": 1}', "no traceEvents"),
        (b"\x00" * 100, "is not a trace"),
        (b"PK\x03\x04....", "is not a trace"),
    ],
)
def test_what_is_no_trace_is_said(write: Write, scanner: str, content: bytes, says: str) -> None:
    with pytest.raises(BadData, match=says):
        read(write(content), scanner)


def test_a_missing_file_and_a_wrong_scanner_are_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"trace\.json does not exist"):
        read_trace(tmp_path / "trace.json")
    (tmp_path / "trace.json").write_text("[]")
    with pytest.raises(UsageError, match="there are auto, compiled and wheel"):
        read(tmp_path / "trace.json", "quantum")


def test_a_bomb_is_not_unpacked(write: Write, scanner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_RATIO_FROM", 1 << 20)
    bomb = gzip.compress(b'{"traceEvents": [' + b" " * (24 << 20), 9)
    path = write(bomb, "bomb.json.gz")
    with pytest.raises(BadData, match="more than 250 times its size"):
        read(path, scanner)


def test_the_largest_size_can_be_raised(write: Write, make_op: Op, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write([make_op(f"op {i}", i) for i in range(40)])
    with pytest.raises(BadData, match="STEPSCOPE_LARGEST_TRACE"):
        read_trace(path, largest=1000, cache=False)
    monkeypatch.setenv("STEPSCOPE_LARGEST_TRACE", "1K")
    with pytest.raises(BadData, match="STEPSCOPE_LARGEST_TRACE"):
        read_trace(path, cache=False)
    monkeypatch.setenv("STEPSCOPE_LARGEST_TRACE", "1M")
    assert len(read_trace(path, cache=False)) == 40
    monkeypatch.setenv("STEPSCOPE_LARGEST_TRACE", "a lot")
    with pytest.raises(UsageError, match="4000M or 40G"):
        read_trace(path, cache=False)


def test_deep_nesting_is_no_danger(write: Write, make_op: Op, scanner: str) -> None:
    good = json.dumps(make_op("good", 1))
    deep = '{"ph": "X", "ts": 1, "args": {"a": ' + "[" * 50_000 + "]" * 50_000 + "}}"
    events = read(write(f"[{good}, {deep}, {good}]".encode()), scanner)
    assert names(events) == ["good", "good"]
    assert events.header.skipped == 1


def test_ranks_by_what_traces_say_then_by_their_names(write: Write, make_op: Op) -> None:
    said = write([make_op("three", 1)], "a.json", distributedInfo={"rank": 3})
    named = write([make_op("one", 1)], "trace_rank1.json")
    neither = write([make_op("first free", 1)], "x.json")
    tables = read_ranks([said, named, neither], cache=False)
    assert {rank: names(table)[0] for rank, table in tables.items()} == {0: "first free", 1: "one", 3: "three"}


def test_two_traces_of_one_rank_are_said(write: Write, make_op: Op) -> None:
    first = write([make_op("old", 1)], "w.1.pt.trace.json", distributedInfo={"rank": 0})
    write([make_op("new", 1)], "w.2.pt.trace.json", distributedInfo={"rank": 0})
    write([make_op("no trace", 1)], "config.json")
    tables = read_ranks(first.parent, cache=False)
    assert {rank: names(table) for rank, table in tables.items()} == {0: ["new"]}
    assert "w.1.pt.trace.json is of rank 0 too" in tables[0].header.notes[0]


def test_a_folder_without_traces_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="holds no trace"):
        read_ranks(tmp_path)


def test_thousands_of_arguments_and_categories_are_bounded(write: Write, scanner: str) -> None:
    """Columns are few whatever a file says, and time does not grow with the square of them."""
    keys = [{"ph": "X", "ts": 1, "cat": f"c{i}", "args": {f"k{i}": 1}} for i in range(3000)]
    events = read(write(keys), scanner)
    assert (len(events), len(events.args), len(events.cats)) == (3000, 1024, 3000)
    assert events.header.notes == ("1,976 values of arguments were left out: there were too many arguments",)
    cats = b",".join(b'{"ph":"X","ts":1,"cat":"%d"}' % i for i in range(65_600))
    events = read(write(b"[" + cats + b"]"), scanner)
    assert (len(events), len(events.cats), events.cats[-1]) == (65_600, 65_536, "(more categories)")
