"""The colors of a team's runs: kept, the same in every process, and never those of their neighbors."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.runs.making import make_run
from tests.team import people_in, team_server

from stepscope.database.engine import Database
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.server.run_colors import RunColors


@pytest.fixture(params=["sqlite", "postgresql"])
def people(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    url = None if request.param == "sqlite" else request.getfixturevalue("postgres").new_database()
    with people_in(tmp_path / "people", url) as people:
        yield people


@pytest.fixture
def entries(tmp_path: Path) -> list[RunEntry]:
    store = tmp_path / "runs"
    for number in range(30):
        make_run(store, f"run-{number}", project="ab"[number % 3 == 0], series={"loss": [1.0]}, created=1.79e9 + number)
    with Catalogue(store) as catalogue:
        catalogue.refresh()
        return sorted(catalogue.every(), key=lambda entry: entry.id)


@pytest.mark.parametrize("few", [0, 200])
def test_every_process_has_the_same_colors_in_whatever_order_runs_are_seen(
    people: Database, entries: list[RunEntry], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stepscope.server.run_colors._FEW", few)
    one, two, luck = RunColors(people), RunColors(people), random.Random(few)
    shuffled = luck.sample(entries, len(entries))
    first = one(shuffled[:10])
    second = two(shuffled[5:])
    assert {run: second[run] for run in first if run in second} == {
        run: hue for run, hue in first.items() if run in second
    }
    assert one(entries) == two(entries) == RunColors(people)(entries)
    for project in "ab":
        own = [one(entries)[entry.id] for entry in entries if entry.project == project]
        assert all(a not in (b, c) for a, b, c in zip(own, own[1:], own[2:], strict=False))


def test_runs_seen_in_order_differ_from_seven_before_them(people: Database, entries: list[RunEntry]) -> None:
    colors = RunColors(people)
    for entry in entries:
        colors([entry])
    own = [colors(entries)[entry.id] for entry in entries if entry.project == "a"]
    assert all(len(set(own[at : at + 8])) == 8 for at in range(len(own) - 7))


def test_the_table_of_a_server_has_them(tmp_path: Path) -> None:
    import httpx
    from tests.team import TOKEN

    home = tmp_path / "home"
    for number in range(3):
        make_run(home, f"run-{number}", series={"loss": [1.0]})
    seen = []
    for _ in range(2):  # the second is a new process, as far as colors go
        with team_server(home, compact=False) as server:
            headers = {"authorization": f"Bearer {TOKEN}", "x-stepscope": "1"}
            rows = httpx.post(f"{server.url}/api/runs", json={}, headers=headers, timeout=60).json()["rows"]
            seen.append({row["id"]: row["hue"] for row in rows})
    assert seen[0] == seen[1]
    assert len(set(seen[0].values())) == 3
