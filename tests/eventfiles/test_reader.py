"""Scalars as columns, everything else as events; nothing is made up from bytes that say nothing."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from stepscope.errors import BadData
from stepscope.eventfiles import write
from stepscope.eventfiles.events import decode_event
from stepscope.eventfiles.graphs import graph_nodes, traced_graphs
from stepscope.eventfiles.plugins import decode_hparams, decode_layout, decode_mesh
from stepscope.eventfiles.reader import EventFile
from stepscope.eventfiles.records import encode_record
from stepscope.eventfiles.summaries import decode_audio, decode_histogram, decode_image, from_limits
from stepscope.eventfiles.tensors import decode_tensor, encode_strings, encode_tensor
from stepscope.eventfiles.wire import fields, put_bytes, put_double, put_float, put_int, put_text, signed, varints

Points = dict[str, list[tuple[int, float, float]]]


def read(path: Path) -> tuple[Points, list[Any], list[str]]:
    """Every point by tag, in the order of the file, the other events, and what went wrong."""
    file = EventFile(path)
    rows: dict[str, list[tuple[int, int, float, float]]] = {}
    events: list[Any] = []
    base = 0
    while (news := file.read()) is not None:
        for column in news.columns:
            columns = (column.order + base, column.steps, column.times, column.values)
            rows.setdefault(column.tag, []).extend(zip(*(part.tolist() for part in columns), strict=True))
        events += [event for _, event in news.events]
        base += news.count
    points = {tag: [row[1:] for row in sorted(found, key=lambda row: row[0])] for tag, found in rows.items()}
    return points, events, file.troubles()


def scalar(tag: str, step: int, time: float, value: float) -> bytes:
    return write.event(time, step, put_text(1, tag) + put_float(2, value))


def test_many_series_of_many_lengths_come_apart(tmp_path: Path) -> None:
    want: Points = {}
    data = [write.version(1.0)]
    tags = ["loss", "acc", "a/b/c", "ü", "loss2", "x" * 300, "lr"]
    for step in [*range(200), 2**14, 2**21 + 5, 2**40, -1, -(2**62)]:
        for number, tag in enumerate(tags[: 1 + abs(step) % len(tags)]):
            point = (step, 1e9 + step / 3 if abs(step) < 1000 else 5.0, float(np.float32(number + abs(step) % 97 / 7)))
            want.setdefault(tag, []).append(point)
            data.append(scalar(tag, *point))
    path = tmp_path / "f"
    path.write_bytes(b"".join(data))
    points, events, troubles = read(path)
    assert points == want
    assert [event.version for event in events] == ["brain.Event:2"]
    assert troubles == []


def test_several_values_in_one_record(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with path.open("wb") as out:
        for step in range(1, 60):
            values = [put_bytes(1, put_text(1, tag) + put_float(2, step * k)) for k, tag in enumerate(("a", "b"))]
            out.write(encode_record(put_double(1, 2.0) + put_int(2, step) + put_bytes(5, b"".join(values))))
    points, _, _ = read(path)
    assert points == {tag: [(s, 2.0, float(s * k)) for s in range(1, 60)] for k, tag in enumerate(("a", "b"))}


@pytest.mark.parametrize("double", [False, True])
def test_written_columns_are_read_again(tmp_path: Path, double: bool) -> None:
    random = np.random.default_rng(0)
    steps = np.array([0, 1, 127, 128, 300, 2**14, 2**35, 2**62, -1, -5, 7, *range(500)])
    times, values = random.normal(1e9, 1e6, len(steps)), random.normal(size=len(steps))
    values[3:6] = [np.nan, np.inf, -np.inf]
    path = tmp_path / "f"
    path.write_bytes(write.version(1.0) + write.scalars("α/β", steps, times, values, double=double))
    points, _, _ = read(path)
    kept = values if double else values.astype(np.float32).astype(float)
    got_steps, got_times, got_values = zip(*points["α/β"], strict=True)
    assert list(got_steps) == steps.tolist()
    assert list(got_times) == times.tolist()
    np.testing.assert_array_equal(got_values, kept)


def test_a_tag_without_its_metadata_is_what_it_was_first(tmp_path: Path) -> None:
    first = (
        put_text(1, "v")
        + put_bytes(8, encode_tensor(np.float32(1.5)))
        + put_bytes(9, put_bytes(1, put_text(1, "scalars")))
    )
    later = put_text(1, "v") + put_bytes(8, encode_tensor(np.float32(2.5)))
    path = tmp_path / "f"
    path.write_bytes(write.event(1.0, 1, first) + b"".join(write.event(1.0, step, later) for step in range(2, 40)))
    points, events, _ = read(path)
    assert points == {"v": [(1, 1.0, 1.5), *((step, 1.0, 2.5) for step in range(2, 40))]}
    assert events == []


def test_records_that_are_no_events_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(scalar("a", 1, 1.0, 2.0) + encode_record(b"\xff\xff\xff") + scalar("a", 2, 1.0, 3.0))
    points, _, troubles = read(path)
    assert points == {"a": [(1, 1.0, 2.0), (2, 1.0, 3.0)]}
    assert len(troubles) == 1
    assert "1 records are not events" in troubles[0]


def test_tensors_go_there_and_back() -> None:
    for array in (np.arange(6, dtype=np.float32).reshape(2, 3), np.array(0.1), np.zeros((0, 3), np.float32)):
        again = decode_tensor(encode_tensor(array))
        np.testing.assert_array_equal(again, array)
        assert again.dtype == array.dtype
    assert decode_tensor(encode_strings([b"a", b"", b"\xff"])).tolist() == [b"a", b"", b"\xff"]
    repeated = put_int(1, 1) + put_bytes(2, put_bytes(2, put_int(1, 4))) + put_bytes(5, np.float32(2).tobytes())
    assert decode_tensor(repeated).tolist() == [2, 2, 2, 2]
    half = put_int(1, 19) + put_bytes(13, bytes([128, 120]))  # 15360, the bits of 1.0
    assert decode_tensor(half).tolist() == 1.0


def test_a_hostile_shape_is_refused() -> None:
    shape = b"".join(put_bytes(2, put_int(1, 1 << 20)) for _ in range(3))
    with pytest.raises(BadData):
        decode_tensor(put_int(1, 1) + put_bytes(2, shape) + put_bytes(5, bytes(4)))


def test_packed_numbers() -> None:
    assert varints(bytes([0, 127, 128, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1])).tolist() == [
        0, 127, 128, 2**64 - 1,
    ]  # fmt: skip
    assert signed(2**64 - 5) == -5
    with pytest.raises(BadData):
        varints(bytes([128]))


def test_a_histogram_whose_edges_do_not_go_up_is_mended_or_refused() -> None:
    same = from_limits(np.array([0.5, 1.0]), np.array([0.0, 7.0]), 0.7, 0.7, 7, 4.9, 3.43)
    assert same.counts.tolist() == [7.0]
    assert same.edges[0] < 0.7 < same.edges[-1]
    with pytest.raises(BadData):
        from_limits(np.array([np.nan, np.nan]), np.array([1.0, 1.0]), np.nan, np.nan, 2, 0, 0)


DECODERS = [
    decode_event, decode_tensor, decode_histogram, decode_image, decode_audio, decode_hparams, decode_layout,
    decode_mesh, lambda data: list(graph_nodes(data)), lambda data: list(traced_graphs(data)),
    lambda data: list(fields(data)),
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(data=st.binary(max_size=200))
def test_hostile_bytes_are_read_or_refused(data: bytes) -> None:
    for decode in DECODERS:
        try:
            decode(data)
        except BadData:
            continue


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    spots=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4),
    seed=st.integers(0, 5),
)
def test_hostile_events_with_right_checksums_do_no_harm(
    tmp_path: Path, spots: list[tuple[int, int]], seed: int
) -> None:
    """Bytes of events are changed before they are framed: whoever can write a checksum can write anything."""
    steps = np.arange(seed, seed + 20)
    values = [put_bytes(5, put_bytes(1, put_text(1, "ab") + put_float(2, step))) for step in steps]
    bodies = [put_double(1, 1.0) + put_int(2, int(step)) + value for step, value in zip(steps, values, strict=True)]
    data = bytearray(b"".join(bodies))
    for place, byte in spots:
        data[place % len(data)] = byte
    path = tmp_path / "f"
    sizes = np.cumsum([0, *map(len, bodies)])
    path.write_bytes(b"".join(encode_record(bytes(data[a:b])) for a, b in pairwise(sizes)))
    points, _, _ = read(path)
    fast = {(tag, *point) for tag, found in points.items() for point in found}
    slow = set()
    for a, b in pairwise(sizes):
        try:
            event = decode_event(bytes(data[a:b]))
        except BadData:
            continue
        slow |= {(v.tag, event.step, event.time, v.scalar) for v in event.values if v.kind == "scalar"}
    assert {repr(one) for one in fast} == {repr(one) for one in slow}
