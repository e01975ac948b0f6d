"""Both scanners make the table that plain Python makes of what json reads."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any, Literal, cast

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.profile.trace.conftest import SCANNERS, TRACES, assert_same

from stepscope.errors import BadData
from stepscope.profile.trace import reading
from stepscope.profile.trace.build import events_of
from stepscope.profile.trace.events import ARGUMENTS, Events
from stepscope.profile.trace.read import read_trace

SAMPLES = sorted(path.name for path in TRACES.glob("*.json.gz"))
_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_number = st.one_of(
    st.integers(-(1 << 70), 1 << 70), st.integers(-5, 5), st.floats(allow_nan=False, allow_infinity=False)
)
_value = st.recursive(
    st.one_of(_number, _text, st.booleans(), st.none(), st.sampled_from(["12", "-7", "--7", "1.5", ""])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=5,
)
_key = st.one_of(st.sampled_from([*ARGUMENTS, "new", "new (text)", "finished", "id"]), _text)
_time = st.one_of(
    st.integers(0, 10**13).map(lambda n: n / 1000),
    st.integers(0, 10**16),
    st.floats(-1e12, 1e12),  # larger ones have no nanoseconds in float64, and scanners round differently
    st.sampled_from(["5", "1.25", "x", "", None, True, [], 1e300]),
)
_event = st.fixed_dictionaries(
    {},
    optional={
        "ph": st.one_of(st.sampled_from(["X", "X", "i", "s", "f", "C", "M", "B", "é", ""]), _value),
        "name": st.one_of(_text, st.sampled_from(["process_name", "thread_name", "aten::mm"]), _value),
        "cat": st.one_of(st.sampled_from(["cpu_op", "kernel"]), _value),
        "pid": st.one_of(st.integers(0, 3), _text, _value),
        "tid": st.one_of(st.integers(0, 3), _text, _value),
        "ts": _time,
        "dur": _time,
        "id": st.one_of(st.integers(), _value),
        "args": st.one_of(st.dictionaries(_key, _value, max_size=6), _value),
        "bp": _value,
    },
)
_trace = st.one_of(
    st.lists(st.one_of(_event, _event, _event, _value), max_size=12),
    st.builds(
        lambda before, events, after: {**before, "traceEvents": events, **after},
        st.dictionaries(_text, _value, max_size=2),
        st.lists(_event, max_size=12),
        st.fixed_dictionaries({}, optional={"baseTimeNanoseconds": st.integers(0, 1 << 60), "rank": _value}),
    ),
)


def read(data: bytes, scanner: str) -> Events:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        path.write_bytes(data)
        return read_trace(path, scanner=cast(Literal["wheel"], scanner), cache=False)


def unpaired(trace: Any) -> Any:
    """Without E: that begins and ends are made one is tested elsewhere."""
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    for event in events:
        if isinstance(event, dict) and isinstance(event.get("ph"), str) and event["ph"].startswith("E"):
            event["ph"] = "X"
    return trace


@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(_trace, st.sampled_from([None, 1]), st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")]))
def test_of_anything_that_json_writes(trace: Any, indent: int | None, separators: tuple[str, str]) -> None:
    data = json.dumps(unpaired(trace), indent=indent, separators=separators).encode()
    expected = events_of(json.loads(data))
    for scanner in SCANNERS:
        try:
            assert_same(read(data, scanner), expected)
        except BadData:
            assert not len(expected)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(_event, min_size=3, max_size=12), st.integers(1, 300), st.sampled_from([1, 8, 40, 1 << 14]))
def test_whatever_the_pieces_are(events: list[Any], size: int, seam: int) -> None:
    data = json.dumps({"a": 1, "traceEvents": unpaired(events), "baseTimeNanoseconds": 77}).encode()
    expected = events_of(json.loads(data))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_PIECE", size)
        patch.setattr(reading, "_SEAM", seam)
        for scanner in SCANNERS:
            assert_same(read(data, scanner), expected)


@pytest.mark.parametrize("name", SAMPLES)
def test_of_real_traces(name: str, scanner: str) -> None:
    got = read_trace(TRACES / name, scanner=cast(Literal["wheel"], scanner), cache=False)
    whole = json.loads(gzip.decompress((TRACES / name).read_bytes()))
    assert_same(got, events_of(whole))
    assert sum(event["ph"] != "M" for event in whole["traceEvents"]) == len(got)
    assert not got.header.truncated


def test_of_a_kind_that_changes_where_two_categories_meet(scanner: str) -> None:
    """The first value in the file says what a new argument is, whichever category comes first in a piece."""
    events = [
        {"ph": "X", "cat": "b", "ts": 1, "args": {"other": 1}},
        {"ph": "X", "cat": "a", "ts": 2, "args": {"fresh": 1.5}},
        {"ph": "X", "cat": "b", "ts": 3, "args": {"fresh": "late"}},
        {"ph": "X", "cat": "a", "ts": 4, "args": {"fresh": [1]}},
    ]
    table = read(json.dumps(events).encode(), scanner)
    assert_same(table, events_of(events))
    assert table.args["fresh"].kind == "float"
    assert table.args["fresh (text)"].rows.tolist() == [2, 3]
