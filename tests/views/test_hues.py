from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.views.context import Context
from stepscope.views.hue_book import HueBook
from stepscope.views.hues import HUES, Spread, hues, told_apart

from .conftest import write_run

RUNS = [(f"01JCQ4{number:020}", "vae") for number in range(300)]


def spread_hues(runs: list[tuple[str, str]]) -> dict[str, int]:
    spread = Spread()
    for run, project in runs:
        spread.add(run, project)
    return spread.hues


def test_eight_runs_in_a_row_have_eight_hues() -> None:
    found = list(spread_hues(RUNS).values())
    assert all(len(set(found[at : at + HUES])) == HUES for at in range(len(found) - HUES + 1))
    assert set(found) == set(range(HUES))


def test_later_runs_change_nothing() -> None:
    assert spread_hues(RUNS[:100]) == dict(list(spread_hues(RUNS).items())[:100])


def test_projects_are_spread_each_for_itself() -> None:
    mixed = [(run, "a" if at % 2 else "b") for at, (run, _) in enumerate(RUNS)]
    found = spread_hues(mixed)
    own = [found[run] for run, project in mixed if project == "a"]
    assert all(len(set(own[at : at + HUES])) == HUES for at in range(len(own) - HUES + 1))


def test_new_runs_get_theirs_with_the_next_look(ctx: Context, store: Path) -> None:
    first = write_run(store, created=1000.0)
    ctx.catalogue.refresh()
    before = dict(hues(ctx.catalogue))
    assert set(before) == {first}
    second = write_run(store, created=2000.0)
    older = write_run(store, created=500.0)
    ctx.catalogue.refresh()
    found = hues(ctx.catalogue)
    assert list(found) == [older, first, second]
    assert found[first] == before[first] != found[second]


def test_a_deleted_run_changes_no_other_and_comes_back_as_it_was(ctx: Context, store: Path) -> None:
    runs = [write_run(store, created=1000.0 + number) for number in range(12)]
    ctx.catalogue.refresh()
    before = dict(hues(ctx.catalogue))
    (store / runs[4]).rename(store.parent / "away")
    late = write_run(store, created=5000.0)
    ctx.catalogue.refresh()
    after = hues(ctx.catalogue)
    assert {run: after[run] for run in runs if run in after} == {run: before[run] for run in runs if run != runs[4]}
    assert after[late] not in [after[run] for run in runs[-7:]]
    (store.parent / "away").rename(store / runs[4])
    ctx.catalogue.refresh()
    assert {run: hues(ctx.catalogue)[run] for run in runs} == before


def test_the_runs_of_a_report_are_told_apart_as_on_the_page() -> None:
    own = {"a": 1, "b": 7, "c": 1, "d": 4, "e": 1}  # as in web/src/lib/colour.test.ts
    assert told_apart(list(own), own) == {"a": 1, "b": 7, "c": 9, "d": 4, "e": 17}


def test_many_runs_have_a_look_each_and_those_that_are_gone_none() -> None:
    own = {f"r{number}": number % HUES for number in range(41)}
    found = told_apart([*own, "r0", "gone"], own)
    assert len(set(list(found.values())[:40])) == 40
    assert list(found) == list(own)


def test_colors_stay_after_a_deletion_and_a_restart(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [write_run(store, created=1000.0 + number) for number in range(12)]

    def in_a_new_process() -> dict[str, int]:
        book = HueBook(tmp_path / "hues.txt")
        monkeypatch.setattr("stepscope.views.hues.hue_book", lambda: book)
        with Catalogue(store) as catalogue:
            catalogue.refresh()
            return dict(hues(catalogue))

    before = in_a_new_process()
    shutil.rmtree(store / runs[3])
    assert in_a_new_process() == {run: hue for run, hue in before.items() if run != runs[3]}


def test_a_book_with_nonsense_in_it_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    file = tmp_path / "hues.txt"
    file.write_bytes(b"01AB 3\n\xff\xfe garbage\n01AB 5\n01CD 7\n01EF")
    assert HueBook(file).read() == {"01AB": 3, "01CD": 7}
