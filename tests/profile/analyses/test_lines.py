"""The user's own lines: against the script, whose lines are known."""

from __future__ import annotations

import pytest
from tests.profile.recorded import FILE, SOURCE, assert_checked, by_key, recorded

from stepscope.profile.analyses.lines import lines
from stepscope.profile.profile import Profile
from stepscope.profile.trace.build import Builder


def test_calls_of_libraries_belong_to_the_line_that_made_them() -> None:
    sheet = lines(recorded().profile())
    assert_checked(sheet)
    rows = by_key(sheet, "where")
    for number, text in ((13, "self.fc1(x)"), (14, "self.act"), (25, "block(x)"), (26, "self.head"), (34, "randn"),
                         (38, "backward"), (39, "optimizer.step")):  # fmt: skip
        assert text in SOURCE.splitlines()[number - 1]
        assert rows[f"{FILE}:{number}"]["of"] == "line", number
    assert rows[f"{FILE}:13"]["calls"] == 4  # two blocks, two steps
    assert rows[f"{FILE}:13"]["function"] == "forward"


def test_bytes_are_those_of_the_tensors_the_line_makes() -> None:
    rows = by_key(lines(recorded().profile()), "where")
    assert rows[f"{FILE}:13"]["allocated_bytes"] == 4 * 32 * 128 * 4
    assert rows[f"{FILE}:14"]["allocated_bytes"] == 4 * 32 * 128 * 4
    assert rows[f"{FILE}:34"]["allocated_bytes"] == 2 * 32 * 64 * 4


def test_backward_is_shown_at_the_line_of_its_forward() -> None:
    rows = by_key(lines(recorded().profile()), "where")
    assert rows[f"{FILE}:13"]["backward_ns"] > 0
    assert rows[f"{FILE}:39"]["backward_ns"] == 0


def test_own_leaves_out_other_lines_of_the_user() -> None:
    rows = by_key(lines(recorded().profile()), "where")
    calls_net = rows[f"{FILE}:37"]
    assert calls_net["total_ns"] > rows[f"{FILE}:13"]["total_ns"]
    assert calls_net["own_ns"] < calls_net["total_ns"]
    assert rows[f"{FILE}:38"]["own_ns"] == rows[f"{FILE}:38"]["total_ns"]


def test_without_our_collector_a_row_is_a_function() -> None:
    sheet = lines(recorded().profile(facts=False))
    assert_checked(sheet)
    rows = by_key(sheet, "where")
    assert {row["of"] for row in rows.values()} == {"function"}
    assert rows[f"{FILE}:33"]["function"] == "step"
    assert rows[f"{FILE}:33"]["calls"] == 2
    assert sheet is not None
    assert "where functions begin" in " ".join(sheet.notes)


def made(*spans: tuple[str, int, int], facts: dict[str, object] | None = None) -> Profile:
    builder = Builder()
    for name, begin, end in spans:
        builder.add(name, "python_function", start=begin, dur=end - begin, pid=1, tid=1)
    profile = Profile.of_events({0: builder.events()})
    if facts:
        profile.facts = lambda rank=0: facts  # type: ignore[method-assign]
    return profile


def test_our_own_calls_are_not_counted_for_your_line() -> None:
    spans = (
        ("train.py(1): f", 0, 100),
        ("stepscope/launch/loop.py(98): __next__", 20, 60),
        ("torch/utils/data/dataloader.py(720): __next__", 25, 55),
    )
    facts = {"call_lines": {"train.py(1): f": {"stepscope/launch/loop.py(98): __next__": [4]}}}
    sheet = lines(made(*spans, facts=facts))
    assert_checked(sheet)
    row = by_key(sheet, "where")["train.py:4"]
    assert (row["own_ns"], row["total_ns"]) == (30, 40)


def test_recursion_is_counted_once() -> None:
    spans = (("train.py(1): walk", 0, 100), ("train.py(1): walk", 10, 90), ("train.py(1): walk", 20, 80))
    row = by_key(lines(made(*spans)), "where")["train.py:1"]
    assert (row["own_ns"], row["total_ns"], row["calls"]) == (100, 100, 3)


def test_the_same_call_on_two_lines_is_told_apart_by_its_order() -> None:
    spans = (
        ("train.py(1): f", 0, 100),
        ("torch/nn/functional.py(9): relu", 10, 20),
        ("torch/nn/functional.py(9): relu", 30, 60),
    )
    facts = {"call_lines": {"train.py(1): f": {"torch/nn/functional.py(9): relu": [2, 3]}}}
    rows = by_key(lines(made(*spans, facts=facts)), "where")
    assert [rows[f"train.py:{n}"]["own_ns"] for n in (1, 2, 3)] == [60, 10, 30]


@pytest.mark.parametrize("facts", [{}, {"call_lines": None}, {"call_lines": {"x": {}}}])
def test_no_code_of_the_user_no_sheet(facts: dict[str, object]) -> None:
    assert lines(made(("torch/_ops.py(1): f", 0, 10), facts=facts)) is None


def test_stacks_written_as_text_at_operators_give_lines_too() -> None:
    builder = Builder()
    stack = "torch/nn/functional.py(9): linear;model.py(12): forward;train.py(3): <module>"
    builder.add("aten::linear", "cpu_op", start=0, dur=50, pid=1, tid=1, args={"Call stack": stack})
    builder.add("aten::addmm", "cpu_op", start=5, dur=40, pid=1, tid=1, args={"Call stack": "", "External id": 7})
    builder.add("gemm", "kernel", start=60, dur=9, pid=0, tid=7, args={"External id": 7, "stream": 7})
    builder.add("aten::rand", "cpu_op", start=80, dur=50, pid=1, tid=1, args={"Call stack": ""})
    sheet = lines(Profile.of_events({0: builder.events()}))
    row = by_key(sheet, "where")["model.py:12"]
    assert (row["own_ns"], row["device_ns"], row["function"], row["calls"]) == (50, 9, "forward", 1)
    assert sheet is not None
    assert sheet.notes[0].startswith("Stacks are known for 50%")
