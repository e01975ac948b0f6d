"""Budgets without a run of pytest around them: sizes, files, and what a busy machine may take."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from stepscope.common.units import parse_bytes
from stepscope.errors import BadData, UsageError
from stepscope.testing.baseline import Baselines, Measured, known, machine_key
from stepscope.testing.budget import Budget
from stepscope.testing.marker import Wishes, wishes_of
from stepscope.testing.measure import peak_bytes, timed

MACHINE = {"cpu": "one"}


def item(*markers: dict[str, Any], args: tuple[Any, ...] = ()) -> pytest.Item:
    marks = [SimpleNamespace(args=args, kwargs=one) for one in markers]
    return cast(pytest.Item, SimpleNamespace(nodeid="t.py::test_it", iter_markers=lambda name: iter(marks)))


def measured(file: Path, ms: list[float], reference_ms: float = 1.0, peak_bytes: int = 1_000_000) -> Measured:
    return Measured(str(file), "t.py::test_it", MACHINE, ms, reference_ms, peak_bytes)


def judged(base: Measured, now: Measured, **wishes: Any) -> list[str]:
    row = {"ms": base.ms, "reference_ms": base.reference_ms, "peak_bytes": base.peak_bytes, "made": "2026-01-01"}
    budget = Budget(item(), Wishes(baseline=True, **wishes), now, _base=row)
    budget._busy = budget._load(now.reference_ms)
    return budget.complaints()


def test_the_nearest_marker_wins_and_what_is_allowed_adds_up() -> None:
    found = wishes_of(item({"allow": "a.b", "steps": 9}, {"allow": ["c"], "steps": 3, "max_memory": "1kB"}))
    assert (found.allow, found.steps, found.max_bytes) == (("c", "a.b"), 9, 1000)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"steps": 0}, "steps is 0; expected a whole number of at least 1"),
        ({"max_ms": "fast"}, "max_ms is 'fast'; expected a number above 0"),
        ({"max_memory": "much"}, "max_memory is 'much'; expected a size, such as '500MB'"),
        ({"allow": [3]}, "allow is [3]; expected rules"),
        ({"max_bytes": 3}, "has no option 'max_bytes'"),
    ],
)
def test_a_wrong_option_is_told(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as told:
        wishes_of(item(options))
    assert words in str(told.value)


def test_options_go_by_name() -> None:
    with pytest.raises(UsageError, match="by name"):
        wishes_of(item({}, args=(3,)))


@pytest.mark.parametrize(("text", "size"), [("2GiB", 2 << 30), ("1.5kb", 1500), (7, 7), ("0.5 MB", 500_000)])
def test_sizes(text: object, size: int) -> None:
    assert parse_bytes(text, "it") == size


def test_a_step_may_be_slower_by_the_tolerance_and_by_as_much_as_the_machine_is(tmp_path: Path) -> None:
    base = measured(tmp_path, [10.0, 10.0, 11.0])
    assert judged(base, measured(tmp_path, [12.0, 12.4, 40.0])) == []
    (told,) = judged(base, measured(tmp_path, [12.0, 13.0, 40.0]))
    assert told.splitlines()[0] == "time: a step takes 13 ms; its baseline is 10 ms (+30%)"
    assert judged(base, measured(tmp_path, [20.0, 20.0, 20.0], reference_ms=1.8)) == []
    assert judged(base, measured(tmp_path, [12.0, 13.0, 40.0]), tolerance=0.5) == []


def test_memory_is_exact_and_has_little_room(tmp_path: Path) -> None:
    base = measured(tmp_path, [1.0])
    assert judged(base, measured(tmp_path, [1.0], peak_bytes=1_150_000)) == []
    (told,) = judged(base, measured(tmp_path, [1.0], peak_bytes=1_400_000))
    assert told.startswith("memory: a step takes 1.335 MiB at its peak; its baseline is 976.6 KiB (+40%)")


def test_a_slow_round_is_repeated_until_one_is_fine() -> None:
    calls: list[int] = []
    taken = timed(lambda: calls.append(1), 3, lambda ms: len(calls) > 4)
    assert (len(taken), len(calls)) == (3, 8), "a warm-up and three calls, twice"
    timed(lambda: calls.append(1), 3, lambda ms: False)
    assert len(calls) == 8 + 3 * 4


def test_the_peak_is_what_a_step_holds_at_once_and_not_what_it_leaves() -> None:
    def step() -> None:
        first = torch.ones(1000)
        first = first + 1
        del first
        torch.ones(500)

    assert 8000 <= peak_bytes(step) < 8100  # and a number as a tensor


def test_baselines_of_other_tests_and_machines_stay(tmp_path: Path) -> None:
    file = tmp_path / "base.json"
    shelf = Baselines()
    shelf.take(json.dumps(measured(file, [1.0]).__dict__))
    shelf.write()
    other = {**measured(file, [2.0]).__dict__, "machine": {"cpu": "two"}}
    shelf.take(json.dumps(other))
    shelf.take(json.dumps({**other, "test": "t.py::test_other"}))
    shelf.write()
    found, _ = known(file, "t.py::test_it", MACHINE)
    assert found is not None
    assert found["ms"] == [1.0]
    assert known(file, "t.py::test_other", {"cpu": "two"})[0] is not None
    assert known(file, "t.py::test_other", MACHINE) == (
        None,
        "its baseline was made on another machine; nothing was compared",
    )
    assert "no baseline yet" in known(file, "t.py::test_new", MACHINE)[1]
    assert [path.name for path in tmp_path.iterdir()] == ["base.json"]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"machines": 3}', '{"machines": {"a": 1}}', '{"version": 9, "machines": {}}']
)
def test_a_file_that_is_none_of_ours_is_told_and_left_alone(text: str, tmp_path: Path) -> None:
    file = tmp_path / "base.json"
    file.write_text(text)
    with pytest.raises(BadData, match=r"base\.json"):
        known(file, "t", MACHINE)
    shelf = Baselines()
    shelf.take(json.dumps(measured(file, [1.0]).__dict__))
    with pytest.raises(BadData):
        shelf.write()
    assert file.read_text() == text


@pytest.mark.parametrize("row", [3, {}, {"ms": []}, {"ms": ["a"], "reference_ms": 1, "peak_bytes": 1}, {"ms": [1.0]}])
def test_a_damaged_entry_is_told(row: object, tmp_path: Path) -> None:
    file = tmp_path / "base.json"
    file.write_text(json.dumps({"version": 1, "machines": {machine_key(MACHINE): {"tests": {"t": row}}}}))
    with pytest.raises(BadData, match="renew it with --stepscope-update-baseline"):
        known(file, "t", MACHINE)
