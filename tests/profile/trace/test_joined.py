"""Several tables as one."""

from __future__ import annotations

from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.events import joined


def test_rows_strings_and_arguments_of_both() -> None:
    first, second = Builder(), Builder()
    first.add("a", "cpu_op", start=1, dur=2, pid=1, tid=1, args={"bytes": 5, "x": "one", "odd": 1.0})
    second.add("b", "data", start=3, pid=2, tid=9, args={"x": "two", "odd": "text"})
    second.add("a", "cpu_op", start=4, pid=1, tid=1, args={"x": "one"})
    first.lane_names["1"], second.lane_names["2"] = "train", "worker"
    table = joined([first.events(), second.events()])
    assert [table.names[i] for i in table.name] == ["a", "b", "a"]
    assert [table.cats[i] for i in table.cat] == ["cpu_op", "data", "cpu_op"]
    assert [table.lanes[i] for i in table.lane] == [("1", "1"), ("2", "9"), ("1", "1")]
    assert table.start.tolist() == [1, 3, 4]
    assert table.lane_names == {"1": "train", "2": "worker"}
    assert [table.arguments(row) for row in range(3)] == [
        {"bytes": 5, "x": "one", "odd": 1.0},
        {"x": "two", "odd (text)": "text"},
        {"x": "one"},
    ]
    assert table.texts == ("one", "two", "text")
