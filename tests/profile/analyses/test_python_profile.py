"""Sheets of Python profiles: the numbers of `pstats`, and of the sampler's tree."""

from __future__ import annotations

import pstats
from pathlib import Path

import msgspec

from stepscope.profile.analyses.python_profile import (
    functions_of_prof,
    functions_of_stack,
    lines_of_stack,
    python_profile,
    python_profile_functions,
    python_profile_lines,
    python_samples,
)
from stepscope.profile.profile import Profile
from stepscope.profile.python.cprofile import CProfiler
from stepscope.profile.python.prof_file import write_prof
from stepscope.profile.python.stats import ProfStats
from stepscope.profile.python.tree_builder import TreeBuilder
from stepscope.records.profile import ProfileFile, ProfileMeta, Stack


def measured() -> ProfStats:
    profiler = CProfiler()

    def leaf(n: int) -> int:
        return sum(range(n)) if n < 50 else leaf(n - 1)

    profiler.start()
    for _ in range(5):
        leaf(60)
    profiler.stop()
    return profiler.result()


def tree() -> Stack:
    builder = TreeBuilder()
    for frames, weight in (
        ([("f (a.py:1)", "/p/a.py", 1, 2), ("g (a.py:5)", "/p/a.py", 5, 6)], 3.0),
        ([("f (a.py:1)", "/p/a.py", 1, 3), ("f (a.py:1)", "/p/a.py", 1, 2)], 1.0),
    ):
        builder.add(frames, weight)
    return builder.stack(id="python-profile", title="t")


def test_numbers_are_those_of_pstats_to_the_nanosecond(tmp_path: Path) -> None:
    stats = measured()
    write_prof(stats, tmp_path / "a.prof")
    theirs = pstats.Stats(str(tmp_path / "a.prof")).stats  # type: ignore[attr-defined]
    sheet = functions_of_prof(stats, "cumulative")
    keys = [column.key for column in sheet.columns]
    assert len(sheet.rows) == len(theirs)
    for row in sheet.rows:
        one = dict(zip(keys, row, strict=True))
        (entry,) = [
            value
            for (file, line, name), value in theirs.items()
            if (one["place"] or "~:0") == f"{file}:{line}" and one["function"] == name.strip("<>")
        ]
        primitive, total, own, cumulative, _ = entry
        assert (one["primitive"], one["calls"]) == (primitive, total)
        assert (one["own"], one["total"]) == (round(own * 1e9), round(cumulative * 1e9))
        assert one["per_call"] == round(cumulative * 1e9 / primitive)
    assert sheet.sort == "total"


def test_a_function_of_a_tree_counts_once_when_it_calls_itself() -> None:
    sheet = functions_of_stack(tree())
    assert sheet.rows == [["g", "/p/a.py:5", 3, 3, 0.75], ["f", "/p/a.py:1", 1, 4, 0.25]]
    assert all(check.ok for check in sheet.checks)


def test_lines_of_a_tree() -> None:
    assert lines_of_stack(tree()).rows == [
        ["/p/a.py:6", "g", 3, 3, 0.75],
        ["/p/a.py:2", "f", 1, 4, 0.25],
        ["/p/a.py:3", "f", 0, 1, 0.0],
    ]


def test_a_profile_with_both_has_both(tmp_path: Path) -> None:
    write_prof(measured(), tmp_path / "rank0.prof")
    (tmp_path / "rank0.stacks").write_bytes(msgspec.msgpack.encode(tree()))
    files = [ProfileFile(name="rank0.prof", kind="prof"), ProfileFile(name="rank0.stacks", kind="stacks")]
    both = Profile(ProfileMeta(id="p", kind="advanced", created=0.0, files=files), tmp_path)
    assert "proportion" in python_profile(both, 0).notes[0]
    assert python_samples(both, 0) == tree()
    assert python_profile_functions(both, 0).columns[2].key == "calls"
    sampled = Profile(ProfileMeta(id="p", kind="advanced", created=0.0, files=files[1:]), tmp_path)
    assert python_profile(sampled, 0) == tree()
    assert python_samples(sampled, 0) is None
    assert python_profile_lines(sampled, 0).rows[0][0] == "/p/a.py:6"
    empty = Profile(ProfileMeta(id="p", kind="simple", created=0.0), tmp_path)
    assert python_profile(empty, 0) is python_profile_functions(empty, 0) is python_profile_lines(empty, 0) is None
