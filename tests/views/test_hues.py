from __future__ import annotations

from pathlib import Path

from stepscope.views.context import Context
from stepscope.views.hues import HUES, Spread, hues, told_apart

from .conftest import write_run

RUNS = [(f"01JCQ4{number:020}", "vae") for number in range(300)]


def spread_hues(runs: list[tuple[str, str]]) -> dict[str, int]:
    spread = Spread()
    for run, project in runs:
        spread.add(run, project)
    return spread.hues


def test_ten_runs_in_a_row_have_ten_hues() -> None:
    found = list(spread_hues(RUNS).values())
    assert all(len(set(found[at : at + 10])) == 10 for at in range(len(found) - 9))
    assert set(found) == set(range(HUES))


def test_later_runs_change_nothing() -> None:
    assert spread_hues(RUNS[:100]) == dict(list(spread_hues(RUNS).items())[:100])


def test_projects_are_spread_each_for_itself() -> None:
    mixed = [(run, "a" if at % 2 else "b") for at, (run, _) in enumerate(RUNS)]
    found = spread_hues(mixed)
    own = [found[run] for run, project in mixed if project == "a"]
    assert all(len(set(own[at : at + 10])) == 10 for at in range(len(own) - 9))


def test_new_runs_get_theirs_with_the_next_look(ctx: Context, store: Path) -> None:
    first = write_run(store, created=1000.0)
    ctx.look()
    assert set(hues(ctx.catalogue)) == {first}
    second = write_run(store, created=2000.0)
    older = write_run(store, created=500.0)
    ctx.look()
    found = hues(ctx.catalogue)
    assert list(found) == [older, first, second]
    assert len(set(found.values())) == 3


def test_a_deleted_run_changes_no_other_and_comes_back_as_it_was(ctx: Context, store: Path) -> None:
    runs = [write_run(store, created=1000.0 + number) for number in range(12)]
    ctx.look()
    before = dict(hues(ctx.catalogue))
    (store / runs[4]).rename(store.parent / "away")
    late = write_run(store, created=5000.0)
    ctx.look()
    after = hues(ctx.catalogue)
    assert {run: after[run] for run in runs if run in after} == {run: before[run] for run in runs if run != runs[4]}
    assert after[late] not in [after[run] for run in runs[-7:]]
    (store.parent / "away").rename(store / runs[4])
    ctx.look()
    assert {run: hues(ctx.catalogue)[run] for run in runs} == before


def test_the_runs_of_a_report_are_told_apart_as_on_the_page() -> None:
    own = {"a": 1, "b": 7, "c": 1, "d": 4, "e": 9, "f": 9}  # as in web/src/lib/colour.test.ts
    assert told_apart(list(own), own) == {"a": 1, "b": 0, "c": 6, "d": 3, "e": 9, "f": 2}


def test_many_runs_have_a_look_each_and_those_that_are_gone_none() -> None:
    own = {f"r{number}": number % HUES for number in range(61)}
    found = told_apart([*own, "r0", "gone"], own)
    assert len(set(list(found.values())[:60])) == 60
    assert list(found) == list(own)
