"""Every event of a trace is counted under its category, also under one nobody knows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from stepscope.profile.analyses.categories import categories
from stepscope.profile.trace.build import events_of
from stepscope.profile.trace.read import read_trace
from stepscope.profile.trace.trace import Trace

TRACES = Path(__file__).parents[2] / "samples" / "traces"


def test_counts_are_those_of_the_file() -> None:
    events = read_trace(TRACES / "h200.json.gz", cache=False)
    sheet = categories(Trace(events))
    assert sheet is not None
    counted: Counter[str] = Counter()
    for row in sheet.rows:
        counted[row[0]] += row[2]
    assert counted == Counter(events.cats[i] or "(none)" for i in events.cat.tolist())
    assert all(check.ok for check in sheet.checks)


def test_unknown_categories_are_shown() -> None:
    trace = events_of([{"ph": "X", "cat": "quantum_op", "ts": 1, "dur": 4, "name": "h"}, {"ph": "i", "ts": 3}])
    sheet = categories(Trace(trace))
    assert sheet is not None
    assert sheet.rows == [["quantum_op", "other", 1, 4000], ["(none)", "other", 1, None]]


def test_what_was_mended_and_cut_off_is_said(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(b'[{"ph": "X", "ts": 1, "name": "a "b""}, 7, {"ph": "X", "ts"')
    sheet = categories(Trace(read_trace(path)))
    assert sheet is not None
    assert [note.split(":")[0] for note in sheet.notes] == [
        "The file is truncated",
        "1 events were not valid JSON (a quote in a name) and were repaired.",
        "1 entries could not be read and are missing.",
    ]


def test_nothing_of_nothing() -> None:
    assert categories(Trace(events_of([]))) is None
