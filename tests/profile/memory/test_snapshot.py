"""CUDA's snapshots: columns of what torch's dictionary says, the lines of the peak, and damage that is said."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.profile.recorded import assert_checked, by_key

from stepscope.errors import BadData
from stepscope.profile.analyses.memory_cuda import memory_cuda
from stepscope.profile.analyses.memory_curve import memory_curve
from stepscope.profile.analyses.memory_lines import memory_lines
from stepscope.profile.memory.snapshot import MemorySnapshot, snapshot_of
from stepscope.profile.memory.snapshot_file import decode_snapshot, read_snapshot
from stepscope.profile.profile import Profile
from stepscope.profile.trace.build import Builder
from stepscope.records.profile import ProfileFile, ProfileMeta


def frames(line: int) -> list[dict[str, Any]]:
    return [
        {"filename": "/opt/python/site-packages/torch/nn/modules/linear.py", "line": 125, "name": "forward"},
        {"filename": "/home/ann/train.py", "line": line, "name": "step"},
    ]


def entry(action: str, address: int, size: int, at_us: int, line: int = 1) -> dict[str, Any]:
    return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": at_us, "frames": frames(line)}


def torch_snapshot() -> dict[str, Any]:
    """1024 bytes from before and 600 asked for at line 7 are there; line 8's 4096 came and went."""
    return {
        "segments": [
            {
                "device": 0, "address": 1000, "total_size": 1 << 21, "stream": 0, "segment_type": "small",
                "blocks": [
                    {"size": 1024, "requested_size": 1000, "address": 1000, "state": "active_allocated",
                     "frames": frames(3)},
                    {"size": 1024, "requested_size": 600, "address": 2024, "state": "active_allocated",
                     "frames": frames(7)},
                    {"size": (1 << 21) - 2048, "requested_size": 0, "address": 3048, "state": "inactive", "frames": []},
                ],
            }
        ],
        "device_traces": [
            [
                entry("segment_alloc", 1000, 1 << 21, 9),
                entry("alloc", 2024, 600, 10, 7),
                entry("alloc", 3048, 4096, 20, 8),
                entry("free_requested", 3048, 4096, 30, 8),
                entry("free_completed", 3048, 4096, 31, 8),
            ]
        ],
    }  # fmt: skip


def profile_with(folder: Path, snapshot: MemorySnapshot) -> Profile:
    (folder / "rank0.memory").write_bytes(msgspec.msgpack.encode(snapshot))
    files = [ProfileFile(name="rank0.memory", kind="memory")]
    return Profile(ProfileMeta(id="p", kind="opened", created=0.0, files=files), folder)


def test_a_dumped_snapshot_is_read_without_pickle(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps(torch_snapshot()))
    found = read_snapshot(path)
    assert found.history.bytes == [1 << 21, 600, 4096, 4096, 4096]
    assert found.blocks.bytes == [1024, 1024]
    assert found.blocks.requested == [1000, 600]
    assert decode_snapshot(msgspec.msgpack.encode(found)) == found


def test_the_peak_by_line_sums_to_the_peak(tmp_path: Path) -> None:
    sheet = memory_lines(profile_with(tmp_path, snapshot_of(torch_snapshot())))
    assert_checked(sheet)
    rows = by_key(sheet, "where")
    assert {where: row["bytes"] for where, row in rows.items()} == {
        "/home/ann/train.py:8": 4096,
        "/home/ann/train.py:7": 1024,
        "/home/ann/train.py:3": 1024,
    }


def test_the_allocators_numbers(tmp_path: Path) -> None:
    sheet = memory_cuda(profile_with(tmp_path, snapshot_of(torch_snapshot())))
    assert_checked(sheet)
    row = by_key(sheet, "device")["CUDA 0"]
    assert (row["reserved_bytes"], row["used_bytes"], row["rounding_bytes"]) == (1 << 21, 2048, 448)
    assert row["peak_bytes"] == 1024 + 1024 + 4096


def test_the_curve_comes_from_the_history_where_there_is_no_trace(tmp_path: Path) -> None:
    curve = memory_curve(profile_with(tmp_path, snapshot_of(torch_snapshot())))
    assert curve is not None
    assert curve.lines == {"CUDA 0 allocated": [2048, 6144, 2048]}
    assert curve.at_ns == [0, 10_000, 20_000]


def test_a_trace_gives_the_sizes_and_the_history_the_lines(tmp_path: Path) -> None:
    builder = Builder()
    told = ((10_001, 1024, 2048, 2024), (20_001, 4608, 6656, 3048), (30_001, -4608, 2048, 3048))
    for at, change, total, address in told:
        builder.add(
            "[memory]", "cpu_instant_event", start=at, pid=1, tid=1, ph="i",
            args={"Bytes": change, "Addr": address, "Total Allocated": total, "Device Type": 1, "Device Id": 0},
        )  # fmt: skip
    opened = profile_with(tmp_path, snapshot_of(torch_snapshot()))
    sheet = memory_lines(Profile(opened.meta, tmp_path, {0: builder.events()}))
    assert_checked(sheet)
    rows = by_key(sheet, "where")
    assert {where: row["bytes"] for where, row in rows.items()} == {
        "/home/ann/train.py:8": 4608,  # rounded up by the allocator, which the history does not say
        "/home/ann/train.py:7": 1024,
        None: 1024,
    }


def test_only_the_newest_of_a_long_history_is_kept() -> None:
    found = torch_snapshot()
    found["device_traces"][0] = [entry("alloc", n, 1, n) for n in range(1, 100)]
    snapshot = snapshot_of(found, most=10)
    assert snapshot.left_out == 89
    assert snapshot.history.address == list(range(90, 100))


@pytest.mark.parametrize(
    "found",
    [
        None, [], {}, {"segments": 3}, {"segments": [3]}, {"segments": [{"device": "0"}]},
        {"segments": [{"device": 1 << 70, "total_size": 1, "address": 0}]},
        {"segments": [], "device_traces": [3]}, {"segments": [], "device_traces": [[3]]},
        {"segments": [], "device_traces": [[{"action": "alloc", "size": None}]]},
        {"segments": [{"device": 0, "total_size": 1, "address": 0, "blocks": [{"size": 1, "frames": [3],
                                                                               "state": "active_allocated"}]}]},
    ],
)  # fmt: skip
def test_what_is_no_snapshot_is_said_to_be_none(found: Any) -> None:
    with pytest.raises(BadData, match="snapshot"):
        snapshot_of(found)


def test_a_small_file_cannot_be_endless() -> None:
    segment = {"device": 0, "total_size": 1, "address": 0}
    segment["blocks"] = [{"size": 1, "state": "active_allocated"}] * 1_100_000  # type: ignore[assignment]
    with pytest.raises(BadData, match="blocks"):
        snapshot_of({"segments": [segment] * 1000})


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.history.device.append(0),
        lambda s: s.blocks.stack.__setitem__(0, 99),
        lambda s: s.stacks[1].append(99),
        lambda s: s.frames.append((99, 1, 0)),
        lambda s: s.blocks.stack.__setitem__(0, -3),
    ],
)
def test_a_damaged_part_of_a_profile_is_said_to_be(change: Any) -> None:
    snapshot = snapshot_of(torch_snapshot())
    change(snapshot)
    with pytest.raises(BadData, match="damaged"):
        decode_snapshot(msgspec.msgpack.encode(snapshot))


def test_garbage_is_said_to_be() -> None:
    with pytest.raises(BadData, match="damaged"):
        decode_snapshot(b"\xc1garbage")
