"""Pickles of others: data comes through, nothing runs, and no file can make it take long or much."""

from __future__ import annotations

import os
import pickle
import random
import struct
import time
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from stepscope.errors import BadData
from stepscope.profile.memory.plain_pickle import read_plain_pickle

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 80), 1 << 80) | st.floats(allow_nan=False) | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=30,
)


@settings(max_examples=60, deadline=None)
@given(plain, st.sampled_from([2, 3, 4, 5]))
def test_plain_data_comes_back_as_it_was(value: Any, protocol: int) -> None:
    assert read_plain_pickle(pickle.dumps(value, protocol)) == value


def test_parts_that_are_shared_stay_shared() -> None:
    frames = [{"filename": "a.py", "line": 3}]
    found = read_plain_pickle(pickle.dumps([frames, frames]))
    assert found[0] is found[1]


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch /tmp/stepscope-was-here",)


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_nothing_in_a_pickle_runs(protocol: int) -> None:
    with pytest.raises(BadData):
        read_plain_pickle(pickle.dumps({"segments": [Evil()]}, protocol))
    assert not os.path.exists("/tmp/stepscope-was-here")


def test_says_why_it_refuses_code() -> None:
    with pytest.raises(BadData, match=r"snapshot\.pickle is not a plain snapshot: it would call code \(STACK_GLOBAL"):
        read_plain_pickle(pickle.dumps(Evil(), 4), "snapshot.pickle")


@pytest.mark.parametrize(
    "data",
    [
        b"", b".", b"\x80\x04", b"\x80\x04h\x00.", b"\x80\x04(.", b"\x80\x04u.", b"\x80\x04]K\x01s.",
        b"\x80\x04}]K\x01s.",
        b"\x80\x04\x8c\xff", b"\x80\x04\x8d" + struct.pack("<Q", 1 << 62) + b"x.", b"\x80\x04\x8b\xff\xff\xff\x7f.",
        b"\x80\x04\x8c\x02\xff\xff.", b"\x80\x04a.", b"garbage", b"\x80\x04K",
    ],
)  # fmt: skip
def test_damaged_pickles_are_said_to_be(data: bytes) -> None:
    with pytest.raises(BadData):
        read_plain_pickle(data)


def test_a_huge_place_in_the_memo_takes_no_memory() -> None:
    data = b"\x80\x04]r" + struct.pack("<I", (1 << 32) - 1) + b"."
    began = time.process_time()
    assert read_plain_pickle(data) == []
    assert time.process_time() - began < 0.5


def test_too_many_objects_are_refused() -> None:
    with pytest.raises(BadData, match="more than 1,000 objects"):
        read_plain_pickle(pickle.dumps(list(range(2000))), most=1000)


def test_random_bytes_and_cut_pickles_never_do_anything_else() -> None:
    chance = random.Random(3)
    whole = pickle.dumps({"segments": [{"device": 0, "blocks": [(1, 2.5, "x", b"y", None, True)] * 3}]})
    pieces = [whole[:n] for n in range(len(whole))]
    pieces += [bytes(chance.randrange(256) for _ in range(40)) for _ in range(500)]
    for at in range(len(whole)):
        changed = bytearray(whole)
        changed[at] ^= 1 << chance.randrange(8)
        pieces.append(bytes(changed))
    for piece in pieces:
        try:
            read_plain_pickle(piece)
        except BadData:
            pass
