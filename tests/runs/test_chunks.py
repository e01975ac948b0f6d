"""Chunks give back what went in, bit for bit, and refuse what is not one."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from stepscope.errors import BadData
from stepscope.runs.format.chunks import MAX_CHUNK_POINTS, chunk_head, decode_chunk, encode_chunk

bits = st.integers(0, 2**64 - 1)
points = st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), bits, bits), min_size=1, max_size=40)


def assert_same(steps, times, values, chunk):
    assert chunk.steps.tobytes() == np.asarray(steps, np.int64).tobytes()
    assert chunk.times.tobytes() == np.asarray(times, np.float64).tobytes()
    assert chunk.values.tobytes() == np.asarray(values, np.float64).tobytes()


@settings(max_examples=150, deadline=None)
@given(points, st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)))
def test_any_bits_come_back(rows, base_time):
    steps = np.array([row[0] for row in rows], dtype=np.int64)
    times = np.array([row[1] for row in rows], dtype=np.uint64).view(np.float64)
    values = np.array([row[2] for row in rows], dtype=np.uint64).view(np.float64)
    chunk = decode_chunk(encode_chunk("a", steps, times, values, base_time=base_time))
    assert_same(steps, times, values, chunk)


def test_a_usual_chunk_is_small():
    rng = np.random.default_rng(0)
    ticks = np.cumsum(rng.integers(90, 130, 1024))
    base = 1.7e9 + 0.123456
    times = base + ticks * 1e-4
    values = rng.normal(size=1024).astype(np.float32).astype(np.float64)
    payload = encode_chunk("loss", np.arange(1024), times, values, base_time=base)
    assert len(payload) < 1024 * 5.2
    assert_same(np.arange(1024), times, values, decode_chunk(payload))


def test_the_head_tells_what_the_chunk_holds():
    values = [3.0, float("nan"), -1.0, float("inf"), float("-inf"), float("-inf")]
    head = chunk_head(encode_chunk("a", [5, 4, 9, 9, 1, 2], range(6), values, attempt=2, rank=7, role="system"))
    assert (head.name, head.count, head.attempt, head.rank, head.role) == ("a", 6, 2, 7, "system")
    assert (head.first_step, head.last_step, head.min_step, head.max_step) == (5, 2, 1, 9)
    assert (head.low, head.high, head.finite, head.nan, head.pos_inf, head.neg_inf) == (-1.0, 3.0, 2, 1, 1, 2)


def test_integers_beyond_a_double_come_back():
    chunk = decode_chunk(encode_chunk("n", [0, 1], [0.0, 1.0], [1.0, 2.0**60], exact={1: 2**60 + 1}))
    assert chunk.exact == {1: 2**60 + 1}


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_bytes_that_are_no_chunk_are_refused(data):
    with pytest.raises(BadData):
        decode_chunk(data)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_damaged_chunk_never_breaks_the_reader(data):
    payload = bytearray(encode_chunk("loss", range(50), np.arange(50) * 0.1, np.arange(50) / 3, base_time=0.0))
    payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    try:
        decode_chunk(bytes(payload))
    except BadData:
        pass


def test_a_chunk_that_claims_too_much_allocates_nothing():
    body = msgspec.msgpack.decode(encode_chunk("a", [0], [0.0], [0.0]))
    for claim in (0, -1, MAX_CHUNK_POINTS + 1, 2**62):
        body[1] = claim
        with pytest.raises(BadData, match="claims"):
            decode_chunk(msgspec.msgpack.encode(body))
