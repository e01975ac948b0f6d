"""Event tables as files: the same again, or a clear refusal; never something else."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from tests.profile.trace.conftest import TRACES

from stepscope.errors import BadData, NotFound
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.columns import load_events, save_events
from stepscope.profile.trace.events import Events, Header
from stepscope.profile.trace.packed import pack_numbers, pack_strings, unpack_numbers, unpack_strings
from stepscope.profile.trace.read import read_trace

Same = Callable[[Events, Events], None]


def small() -> Events:
    builder = Builder(Header(fields={"rank": 1}, truncated=True, notes=("cut off",)))
    builder.add("a", "cpu_op", start=10**18, dur=5, pid=1, tid="main", args={"bytes": 1 << 40, "new": 0.5, "t": "é"})
    builder.add("b", "kernel", start=10**18 - 7, dur=-1, pid=1, tid=2, ph="B", args={"bytes": -3, "t": "\x00"})
    builder.lane_names["1"] = "python"
    return builder.events()


@pytest.mark.parametrize("name", ["h200.json.gz", "two_ranks_rank1.json.gz"])
def test_a_real_trace_comes_back_as_it_was(tmp_path: Path, same: Same, name: str) -> None:
    events = read_trace(TRACES / name, cache=False)
    save_events(events, tmp_path / "t.events")
    again = load_events(tmp_path / "t.events")
    same(again, events)
    assert again.texts == events.texts
    assert again.header == events.header
    assert (tmp_path / "t.events").stat().st_size < 0.1 * events.header.json_bytes
    assert [path.name for path in tmp_path.iterdir()] == ["t.events"]


def test_an_odd_table_and_an_empty_one_come_back(tmp_path: Path, same: Same) -> None:
    for events in (small(), Builder().events()):
        save_events(events, tmp_path / "t.events")
        same(load_events(tmp_path / "t.events"), events)


@pytest.mark.parametrize(
    "values",
    [
        np.array([], np.int64),
        np.array([5], np.int64),
        np.array([-(1 << 63), (1 << 63) - 1, 0, -1], np.int64),
        np.array([(1 << 63) - 1, -(1 << 63)], np.int64),
        np.arange(10**18, 10**18 + 5000, 7),
        np.array([1 << 39, 0, 1 << 36, 5, -7], np.int64),
        np.array([1 << 47, 0, 1 << 36, 5, -7], np.int64),
        np.array([3, 1, 2] * 100, np.uint32),
        np.array([0, (1 << 32) - 1], np.uint32),
        np.array([0.1, np.nan, -np.inf, -0.0]),
    ],
)
def test_numbers_come_back_to_the_last_bit(values: np.ndarray) -> None:
    how, block = pack_numbers(values)
    again = unpack_numbers(how, memoryview(block), values.dtype)
    assert (again.dtype, again.tobytes()) == (values.dtype, values.tobytes())


@pytest.mark.parametrize("strings", [[], [""], ["", ""], ["a\x00b", "", "é"], ["x" * 1000, "😀"]])
def test_strings_come_back(strings: list[str]) -> None:
    how, block = pack_strings(strings)
    assert unpack_strings(how, memoryview(block)) == strings


def test_no_flipped_bit_and_no_cut_is_believed(tmp_path: Path, same: Same) -> None:
    events = small()
    path = tmp_path / "t.events"
    save_events(events, path)
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        with pytest.raises(BadData):
            load_events(path)
        path.write_bytes(whole[:at])
        with pytest.raises(BadData):
            load_events(path)
    path.write_bytes(whole)
    same(load_events(path), events)


def test_a_missing_file_and_another_format_are_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no event table"):
        load_events(tmp_path / "t.events")
    save_events(small(), tmp_path / "t.events")
    raw = (tmp_path / "t.events").read_bytes()
    (tmp_path / "t.events").write_bytes(raw[:8] + struct.pack("<H", 99) + raw[10:])
    with pytest.raises(BadData, match=r"of format 99; this version reads 3: upgrade"):
        load_events(tmp_path / "t.events")


def forged(path: Path, **blocks: dict[str, object]) -> None:
    """The table with what its index says of some blocks changed, checksums and all."""
    raw = path.read_bytes()
    _, _, length, _ = struct.unpack_from("<8sHII", raw)
    index = msgspec.json.decode(raw[18 : 18 + length])
    for name, changes in blocks.items():
        index["blocks"][index["full"][name]].update(changes)
    again = msgspec.json.encode(index)
    path.write_bytes(raw[:10] + struct.pack("<II", len(again), zlib.crc32(again)) + again + raw[18 + length :])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"count": 1 << 60}, "numbers instead of"),
        ({"raw": 1 << 50, "deflated": True}, "cannot unpack to"),
        ({"dtype": "O"}, "unknown type 'O'"),
        ({"dtype": "<f8"}, "block 0"),
        ({"base": 10**30}, "block 0"),
    ],
)
def test_a_forged_index_gives_no_memory_away(tmp_path: Path, changes: dict[str, object], says: str) -> None:
    path = tmp_path / "t.events"
    save_events(small(), path)
    forged(path, start=changes)
    with pytest.raises(BadData, match=says):
        load_events(path)


def test_indexes_that_point_outside_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.events"
    save_events(replace(small(), name=np.array([0, 7], np.uint32)), path)
    with pytest.raises(BadData, match="points at entry 7 of 2"):
        load_events(path)
    bad = small()
    bad.args["t"].rows[:] = [1, 9]
    save_events(bad, path)
    with pytest.raises(BadData, match="points at entry 9 of 2"):
        load_events(path).arguments(1)
