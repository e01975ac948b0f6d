"""What people change through one process of a server is seen by the others at their next answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy.exc import OperationalError
from tests.runs.making import make_run
from tests.team import TOKEN, people_in, team_server

from stepscope.database.engine import Database
from stepscope.people import tokens
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.trash import move_to_trash, restore, trashed_runs
from stepscope.server import edited_runs, watch as watch_module
from stepscope.server.edited_runs import EditedRuns
from stepscope.views.edit import EditRequest, changes, write_changes

HEADERS = {"authorization": f"Bearer {TOKEN}", "x-stepscope": "1"}


@pytest.fixture
def people(tmp_path: Path, database_url: str) -> Iterator[Database]:
    with people_in(tmp_path / "people", database_url) as people:
        yield people


def test_each_process_hears_of_an_edit_once(people: Database) -> None:
    one, two = EditedRuns(people), EditedRuns(people)
    assert (one.new(), two.new()) == ([], [])
    one.add(["a", "b"])
    two.add(["b", "c"])
    assert (one.new(), two.new()) == (["a", "b", "c"], ["a", "b", "c"])
    assert (one.new(), EditedRuns(people).new()) == ([], [])


def test_who_missed_too_much_looks_at_everything(people: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edited_runs, "KEPT", 3)
    one, two = EditedRuns(people), EditedRuns(people)
    two.new()
    one.add(["a"])
    one.add(["b", "c", "d"])
    assert two.new() is None
    one.add(["e"])
    assert two.new() == ["e"]


def test_two_servers_of_one_folder_agree_after_every_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_module, "STALE_S", 1e9)
    run = make_run(tmp_path / "home", "first", series={"loss": [1.0]}).name
    with team_server(tmp_path / "home") as one, team_server(tmp_path / "home") as two:

        def ask(server: str, path: str, **body: Any) -> Any:
            return httpx.post(f"{server}{path}", json=body, headers=HEADERS, timeout=60).raise_for_status().json()

        def names(server: str) -> list[str]:
            return [row["name"] for row in ask(server, "/api/runs")["rows"]]

        assert (names(one.url), names(two.url)) == (["first"], ["first"])
        for here, there, name in ((one.url, two.url, "second"), (two.url, one.url, "third")):
            ask(here, "/api/runs/edit", runs=[run], name=name)
            assert names(there) == [name]
            ask(here, "/api/runs/delete", runs=[run])
            assert names(there) == []
            ask(here, "/api/trash/restore", runs=[run])
            assert names(there) == [name]


def test_looking_at_some_runs_sees_what_looking_at_all_sees(store: Path) -> None:
    runs = [make_run(store, f"run-{number}", series={"loss": [1.0]}) for number in range(4)]
    nested = make_run(store / "team" / "project", "nested", series={"loss": [1.0]})
    with Catalogue(store) as some, Catalogue(store) as every:
        every.refresh()
        some.refresh()
        for run in (runs[0], nested):
            write_changes(run, run.name, changes(EditRequest(runs=[run.name], add_tags=["kept"])))
        move_to_trash(runs[1], "run-1")
        made = make_run(store, "new", series={"loss": [1.0]})
        touched = [run.name for run in (runs[0], nested, runs[1], made)]
        changed = some.refresh(only=[*touched, "01JCQ4N0T0F0URS0000000000X"])
        assert (set(changed.changed), changed.gone) == ({runs[0].name, nested.name, made.name}, [runs[1].name])
        every.refresh()
        assert [(one.id, one.tags) for one in some.every()] == [(one.id, one.tags) for one in every.every()]
        restore(trashed_runs([store])[0])
        assert some.refresh(only=[runs[1].name]).changed == [runs[1].name]
        assert not some.refresh()


def test_while_the_database_is_away_answers_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with team_server(tmp_path / "home") as server:

        def away(*asked: object) -> None:
            raise OperationalError("SELECT 1", {}, Exception("connection refused at secret-host"))

        monkeypatch.setattr(tokens, "caller_of", away)
        answer = httpx.post(f"{server.url}/api/runs", json={}, headers=HEADERS, timeout=60)
        page = httpx.get(server.url, headers={**HEADERS, "accept": "text/html"}, timeout=60)
        monkeypatch.undo()
        assert (answer.status_code, page.status_code) == (503, 503)
        assert answer.json()["error"] == "The server's database cannot be used right now."
        assert "Try again in a minute" in page.text
        assert "secret-host" not in answer.text + page.text
        assert page.headers["x-frame-options"] == "DENY"
        assert httpx.post(f"{server.url}/api/runs", json={}, headers=HEADERS, timeout=60).status_code == 200
