"""Records come out whole and right or not at all, whatever happened to the file."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from stepscope.eventfiles.crc32c import crc32c, masked, masked_rows
from stepscope.eventfiles.records import RecordFile, encode_record, first_records


def slow_crc32c(data: bytes) -> int:
    """Bit by bit, as the definition has it."""
    total = 0xFFFFFFFF
    for byte in data:
        total ^= byte
        for _ in range(8):
            total = (total >> 1) ^ (0x82F63B78 if total & 1 else 0)
    return total ^ 0xFFFFFFFF


@pytest.mark.parametrize("size", [0, 1, 3, 8, 63, 64, 65, 127, 1023, 1024, 1025, 4096, 9999])
def test_the_checksum_is_the_one_of_the_definition(size: int) -> None:
    data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    assert crc32c(data.tobytes()) == slow_crc32c(data.tobytes())


@pytest.mark.parametrize("size", [1, 8, 40, 64, 65, 200])
def test_many_messages_have_the_checksums_of_each(size: int) -> None:
    rows = np.random.default_rng(size).integers(0, 256, (40, size), dtype=np.uint8)
    rows[:, size // 2] = 7  # a place where all are the same
    assert masked_rows(rows).tolist() == [masked(row.tobytes()) for row in rows]


def everything(file: RecordFile) -> list[bytes]:
    """All records, in their order."""
    out: list[bytes] = []
    while (batch := file.read()) is not None:
        found = dict(batch.singles)
        for group in batch.groups:
            found.update(zip(group.order.tolist(), (row.tobytes() for row in group.rows), strict=True))
        out.extend(found[place] for place in sorted(found))
    return out


def some_records(count: int = 60) -> list[bytes]:
    random = np.random.default_rng(1)
    sizes = [30, 30, 41, 0, 700, 30, 2]
    return [random.integers(0, 256, sizes[n % len(sizes)], dtype=np.uint8).tobytes() for n in range(count)]


def test_records_come_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"".join(map(encode_record, some_records())))
    file = RecordFile(path)
    assert everything(file) == some_records()
    assert (file.left, file.troubles()) == (0, [])
    assert first_records(path)[:3] == some_records()[:3]


def test_a_file_that_grows_byte_by_byte_gives_each_record_once(tmp_path: Path) -> None:
    path = tmp_path / "f"
    data = b"".join(map(encode_record, some_records(8)))
    path.write_bytes(b"")
    file = RecordFile(path)
    found: list[bytes] = []
    with path.open("ab") as out:
        for start in range(0, len(data), 7):
            out.write(data[start : start + 7])
            out.flush()
            found += everything(file)
    assert found == some_records(8)
    assert file.troubles() == []


def test_reading_goes_on_at_an_offset(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"".join(map(encode_record, some_records(10))))
    first = RecordFile(path)
    everything(first)
    with path.open("ab") as out:
        out.write(encode_record(b"more"))
    assert everything(RecordFile(path, first.offset)) == [b"more"]


def test_a_record_larger_than_a_block_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepscope.eventfiles.records.BLOCK", 1000)
    path = tmp_path / "f"
    records = [b"a" * 10, b"b" * 5000, b"c" * 10, *some_records()]
    path.write_bytes(b"".join(map(encode_record, records)))
    assert everything(RecordFile(path)) == records


def test_a_damaged_record_is_skipped_and_told(tmp_path: Path) -> None:
    path = tmp_path / "f"
    parts = list(map(encode_record, some_records()))
    parts[20] = parts[20][:15] + bytes([parts[20][15] ^ 1]) + parts[20][16:]
    path.write_bytes(b"".join(parts))
    file = RecordFile(path)
    assert everything(file) == some_records()[:20] + some_records()[21:]
    (told,) = file.troubles()
    assert f"at byte {sum(map(len, parts[:20])):,}" in told


def test_a_damaged_length_costs_its_record_only(tmp_path: Path) -> None:
    path = tmp_path / "f"
    parts = list(map(encode_record, some_records()))
    parts[20] = b"\xff" + parts[20][1:]
    path.write_bytes(b"".join(parts))
    file = RecordFile(path)
    assert everything(file) == some_records()[:20] + some_records()[21:]
    (told,) = file.troubles()
    assert f"{len(parts[20]):,} bytes" in told


@pytest.mark.parametrize("tail", [bytes(100_000), b"\xff" * 100, struct.pack("<Q", 1 << 62)])
def test_a_tail_that_is_no_record_means_not_yet(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "f"
    whole = b"".join(map(encode_record, some_records(9)))
    path.write_bytes(whole + tail)
    file = RecordFile(path)
    assert everything(file) == some_records(9)
    assert (file.left, file.troubles()) == (len(tail), [])
    path.write_bytes(whole + encode_record(b"late") + bytes(len(tail)))  # now the pages are there
    assert everything(file) == [b"late"]


def test_a_huge_length_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "f"
    head = struct.pack("<Q", 1 << 60)
    path.write_bytes(encode_record(b"x") + head + struct.pack("<I", masked(head)) + b"y" * 50)
    assert everything(RecordFile(path)) == [b"x"]


def test_a_file_that_was_replaced_by_a_shorter_one_is_told(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"".join(map(encode_record, some_records())))
    file = RecordFile(path)
    everything(file)
    path.write_bytes(encode_record(b"x"))
    assert everything(file) == []
    assert "shorter" in file.troubles()[0]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spots=st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 255)), max_size=6), cut=st.integers(0, 10**6))
def test_whatever_is_flipped_or_cut_no_wrong_record_comes(
    tmp_path: Path, spots: list[tuple[int, int]], cut: int
) -> None:
    records = some_records(24)
    data = bytearray(b"".join(map(encode_record, records)))
    for place, flip in spots:
        data[place % len(data)] ^= flip
    path = tmp_path / f"f{os.getpid()}"
    path.write_bytes(bytes(data[: max(1, cut % (2 * len(data)))]))
    found = everything(RecordFile(path))
    at = 0
    for record in found:  # a part of what was written, in its order
        at = records.index(record, at) + 1
    if not spots and cut % (2 * len(data)) >= len(data):
        assert found == records
