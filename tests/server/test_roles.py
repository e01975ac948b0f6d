"""Every route with every role: who may call what, and that nobody learns of a project they may not see."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.applications import Starlette
from tests.runs.making import make_run
from tests.team import TOKEN, join, people_in

from stepscope.database.engine import Database
from stepscope.people.caller import Caller as Person
from stepscope.people.roles import set_role
from stepscope.people.tokens import caller_of, make_token, revoke_token, token_holds
from stepscope.people.users import add_user, find_user
from stepscope.report import store as reports
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.visible import VisibleCatalogue
from stepscope.runs.format.layout import is_run_folder
from stepscope.runs.read.folder import open_run
from stepscope.server.app import create_app
from stepscope.server.permissions import NEEDS, Need
from stepscope.server.settings import Settings
from stepscope.views.route import Route, all_routes

from .conftest import Caller, every_call

MARK = "topsecret"
PLACES = ("nobody", "outsider", "link", "sender", "viewer", "viewer everywhere", "writer", "writer everywhere")
ROLES = (*PLACES, "project admin", "admin")

# Who gets past the check of each need. What they find behind it is another matter: the test after this one.
ALLOWED: dict[Need, set[str]] = {
    "public": {*ROLES},
    "signed in": {*ROLES} - {"nobody"},
    "read": {*ROLES} - {"nobody", "outsider", "sender"},
    "ingest": {*ROLES} - {"nobody", "outsider"},
    "write": {"writer", "writer everywhere", "project admin", "admin"},
    "admin": {"project admin", "admin"},
    "read everywhere": {"viewer everywhere", "writer everywhere", "admin"},
    "write everywhere": {"writer everywhere", "admin"},
    "server": {"admin"},
}


@pytest.fixture
def people(tmp_path: Path) -> Iterator[Database]:
    with people_in(tmp_path / "people") as people:
        yield people


@pytest.fixture
def app(store: Path, tmp_path: Path, people: Database) -> Iterator[Starlette]:
    settings = Settings(token=None, static=tmp_path / "not-built", people=people, ingest=store, compact=False)
    with Catalogue(store) as catalogue:
        yield create_app(catalogue, settings)


@pytest.fixture
def callers(app: Starlette, people: Database) -> dict[str, Caller]:
    """One for each role, in project p."""
    add_user(people, "linker")
    _, link = make_token(people, find_user(people, "linker").id, "link", scopes=["read"], project="p")
    tokens = {
        "outsider": join(people, "outsider", None),
        "sender": join(people, "sender", "writer", "p", scopes=("ingest",)),
        "viewer": join(people, "viewer", "viewer", "p"),
        "viewer everywhere": join(people, "viewers", "viewer"),
        "writer": join(people, "writer", "writer", "p"),
        "writer everywhere": join(people, "writers", "writer"),
        "project admin": join(people, "manager", "admin", "p"),
        "admin": TOKEN,
    }
    made = {
        name: Caller(app, authorization=f"Bearer {token}", **{"x-stepscope": "1"}) for name, token in tokens.items()
    }
    made["nobody"] = Caller(app, **{"x-stepscope": "1"})
    made["link"] = Caller(app, cookie=f"stepscope-7007={link}", **{"x-stepscope": "1"})
    return made


def test_every_route_has_a_decision_and_every_decision_a_route(app: Starlette) -> None:
    names = {
        f"{method} {route.path}"  # type: ignore[attr-defined]
        for route in app.routes
        for method in route.methods - {"HEAD"}  # type: ignore[attr-defined]
    }
    assert names - set(NEEDS) == set(), "decide in server/permissions.py what these need"
    assert set(NEEDS) - names == NOT_HERE, "server/permissions.py names routes that are gone"


NOT_HERE = {"GET /login", "GET /login/done"}
"""Only of a server with an identity provider."""


@pytest.mark.parametrize("role", ROLES)
def test_every_route_with_every_role(app: Starlette, callers: dict[str, Caller], role: str) -> None:
    wrong = []
    calls = zip(every_call(app), _names(app), strict=True)
    for (method, path), name in sorted(calls, key=lambda call: "logout" in call[1]):  # it ends the token
        if name == "GET /api/live":  # a stream that does not end
            continue
        answer = callers[role].request(method, path.replace("no-link", "x" * 43), json={})
        refused = answer.status_code in (401, 403)
        allowed = role in ALLOWED[NEEDS[name]]
        if refused is allowed and not _refused_inside(name, role):
            wrong.append(f"{role} {name}: {answer.status_code} {answer.text[:100]}")
    assert wrong == []


def _refused_inside(name: str, role: str) -> bool:
    """Calls that decide by what they are asked: an empty request names no project or token."""
    inside = {
        "POST /api/login",  # an empty invitation is none
        "POST /login/invitation",
        "POST /api/sync/{run}/{name:path}",  # the type of the body is checked first
        "POST /api/sync/{run}",  # an unknown run has no project
        "GET /api/sync/{run}/{name:path}",
        "POST /api/members",
        "POST /api/members/set",
    }
    tokens = {"POST /api/tokens", "POST /api/tokens/make", "POST /api/tokens/revoke"}  # for browsers that signed in
    return name in inside or (role != "admin" and name in tokens)


def _names(app: Starlette) -> list[str]:
    return [
        f"{'GET' if method == 'HEAD' else method} {route.path}"  # type: ignore[attr-defined]
        for route in app.routes
        for method in sorted(route.methods or {"GET", "POST"})  # type: ignore[attr-defined]
    ]


# -- what is behind the check -----------------------------------------------------------------------------------


@pytest.fixture
def runs(store: Path) -> dict[str, str]:
    """The ids of two runs: one in project p, one in a project that must not be seen."""
    seen = make_run(store, project="p", name="open", series={"loss": [1.0, 0.5]})
    secret = make_run(store, project=MARK, name=MARK, config={MARK: 1}, series={MARK: [1.0, 0.5], "loss": [1.0]})
    return {"p": seen.name, MARK: secret.name}


def _request(route: Route, run: str) -> dict[str, Any]:
    """A request with every field that names a run set to this one, and the others to something that fits."""
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(route.request):
        if field.name in ("run", "a", "b", "base", "baseline"):
            values[field.name] = run
        elif field.name in ("runs", "ids"):
            values[field.name] = [run]
        elif field.name in ("query", "text", "search", "pattern") and field.type is str:
            values[field.name] = MARK if field.name in ("text", "search") else ""
        elif field.required:
            values[field.name] = _any_of(field.type, run)
    return values


def _any_of(kind: Any, run: str) -> Any:
    text = str(kind)
    for word, value in (("list", []), ("dict", {}), ("int", 0), ("float", 0.0), ("bool", False)):
        if word in text.lower():
            return value
    return MARK


def _view_calls(run: str) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    for route in all_routes():
        if route.stream or route.path.startswith("/shared"):
            continue
        asked = _request(route, run)
        path = route.path
        for name in route.parameters:
            path = path.replace(f"{{{name}}}", str(asked.pop(name, run)))
        if route.method == "GET":
            query = "&".join(f"{key}={value}" for key, value in asked.items() if isinstance(value, str))
            yield route.name, "GET", f"{path}?{query}", {}
        else:
            yield route.name, "POST", path, asked


@pytest.mark.parametrize("role", ["viewer", "writer", "project admin", "link"])
def test_no_view_tells_of_a_project_that_the_caller_may_not_see(
    callers: dict[str, Caller], runs: dict[str, str], role: str
) -> None:
    told, admin_told = [], 0
    for name, method, path, asked in _view_calls(runs[MARK]):
        if name in ("POST /api/runs/delete", "POST /api/trash/purge"):
            continue
        answer = callers[role].request(method, path, json=asked)
        assert answer.status_code < 500, f"{name} {answer.text}"
        echo = json.dumps(asked) + path
        if MARK in answer.text and not (answer.status_code >= 400 or MARK in echo):
            told.append(f"{name}: {answer.text[:200]}")
        if answer.status_code < 400 and runs[MARK] in answer.text and runs[MARK] not in echo:
            told.append(f"{name}: {answer.text[:200]}")
        if role == "viewer" and MARK in callers["admin"].request(method, path, json=asked).text:
            admin_told += 1
    assert told == []
    assert role != "viewer" or admin_told > 10  # the same requests do find something


def test_a_run_of_another_project_is_not_found_and_not_changed(
    callers: dict[str, Caller], runs: dict[str, str], store: Path
) -> None:
    writer, viewer = callers["writer"], callers["viewer"]
    assert writer.post("/api/run", {"run": runs[MARK]}).status_code == 404
    assert writer.post("/api/run", {"run": runs["p"]}).status_code == 200
    edit = writer.post("/api/runs/edit", {"runs": list(runs.values()), "add_tags": ["x"]}).json()
    assert (edit["changed"], [one["run"] for one in edit["refused"]]) == ([runs["p"]], [runs[MARK]])
    assert open_run(store / runs[MARK]).tags == []
    assert viewer.post("/api/runs/edit", {"runs": [runs["p"]], "add_tags": ["x"]}).status_code == 403
    deleted = writer.post("/api/runs/delete", {"runs": list(runs.values())}).json()
    assert deleted["changed"] == [runs["p"]]
    assert callers["admin"].post("/api/runs/delete", {"runs": [runs[MARK]]}).json()["changed"] == [runs[MARK]]
    assert [one["id"] for one in viewer.post("/api/trash").json()["runs"]] == [runs["p"]]
    assert writer.post("/api/trash/restore", {"runs": [runs[MARK]]}).json()["changed"] == []
    assert writer.post("/api/trash/restore").json()["changed"] == [runs["p"]]
    assert is_run_folder(store / runs["p"])
    assert not is_run_folder(store / runs[MARK])


def test_a_role_given_and_taken_away_holds_from_the_next_request(
    callers: dict[str, Caller], runs: dict[str, str], people: Database
) -> None:
    outsider = callers["outsider"]
    assert outsider.post("/api/runs").status_code == 403
    set_role(people, "p", "viewer", user="outsider")
    assert [row["id"] for row in outsider.post("/api/runs").json()["rows"]] == [runs["p"]]
    info = outsider.get("/api/info").json()
    assert (info["user"], info["projects"], info["runs"], info["read_only"]) == ("outsider", ["p"], 1, True)
    set_role(people, "p", None, user="outsider")
    assert outsider.post("/api/runs").status_code == 403


def test_a_link_to_one_run_shows_that_run(app: Starlette, callers: dict[str, Caller], runs: dict[str, str]) -> None:
    assert callers["writer"].post("/api/links/make", {"run": runs[MARK]}).status_code == 404
    assert callers["writer"].post("/api/links/make", {"project": MARK}).status_code == 403
    made = callers["admin"].post("/api/links/make", {"run": runs[MARK], "name": "for bo", "days": 7}).json()
    guest = Caller(app, **{"x-stepscope": "1"})
    assert made["url"].endswith(f"#/run/{runs[MARK]}")
    answer = guest.get(made["url"], follow_redirects=False)
    assert (answer.status_code, answer.headers["location"].partition("#")[0]) == (303, "/")
    assert [row["id"] for row in guest.post("/api/runs").json()["rows"]] == [runs[MARK]]
    assert guest.post("/api/run", {"run": runs["p"]}).status_code == 404
    assert guest.post("/api/runs/edit", {"runs": [runs[MARK]], "name": "x"}).status_code == 403
    assert made["link"]["id"] not in [link["id"] for link in callers["writer"].post("/api/links").json()["links"]]
    assert callers["writer"].post("/api/links/revoke", {"id": made["link"]["id"]}).status_code == 404
    callers["admin"].post("/api/links/revoke", {"id": made["link"]["id"]})
    assert guest.post("/api/runs").status_code == 401


def test_comments_on_a_report_are_for_who_sees_every_project(callers: dict[str, Caller], store: Path) -> None:
    found, _ = reports.save([store], "# Results", "Results")
    asked = {"report": found.id, "text": "well done @viewers and @viewer"}
    [made] = callers["writer everywhere"].post("/api/comments/add", asked).json()["comments"]
    assert (made["report"], made["run"]) == (found.id, None)
    assert callers["viewer everywhere"].post("/api/mentions").json()["comments"][0]["id"] == made["id"]
    for role in ("viewer", "project admin", "link"):
        assert callers[role].post("/api/comments", {"report": found.id}).status_code == 403
        assert callers[role].post("/api/mentions").json() == {"comments": []}
    assert callers["admin"].post("/api/comments", {"report": "not-there"}).status_code == 404
    for both in ({}, {"report": found.id, "run": "0" * 26}):
        assert callers["admin"].post("/api/comments", both).status_code == 400


def test_comments_are_seen_by_who_may_see_the_run(callers: dict[str, Caller], runs: dict[str, str]) -> None:
    asked = {"run": runs["p"], "text": "diverges here, @manager and @outsider: look", "chart": "loss", "step": 1}
    [made] = callers["viewer"].post("/api/comments/add", asked).json()["comments"]
    assert (made["user"], made["chart"], made["step"], made["mine"]) == ("viewer", "loss", 1, True)
    assert [one["mine"] for one in callers["writer"].post("/api/comments", {"run": runs["p"]}).json()["comments"]] == [
        False
    ]
    assert callers["viewer"].post("/api/comments", {"run": runs[MARK]}).status_code == 404
    assert callers["viewer"].post("/api/comments/add", {"run": runs[MARK], "text": "x"}).status_code == 404
    assert callers["link"].post("/api/comments/add", asked).status_code == 403
    assert callers["link"].post("/api/comments", {"run": runs["p"]}).json()["comments"][0]["mine"] is False
    mentions = callers["project admin"].post("/api/mentions").json()["comments"]
    assert [one["id"] for one in mentions] == [made["id"]]
    assert callers["outsider"].post("/api/mentions").json() == {"comments": []}  # may not see the run
    seen = callers["project admin"].post("/api/mentions/seen", {"comments": [made["id"]]}).json()
    assert seen == {"comments": []}
    assert callers["writer"].post("/api/comments/remove", {"id": made["id"]}).status_code == 404
    assert callers["viewer"].post("/api/comments/remove", {"id": made["id"]}).json() == {"comments": []}


def test_a_visible_catalogue_answers_everything_that_a_catalogue_does() -> None:
    public = {name for name in vars(Catalogue) if not name.startswith("_")} | {"__len__"}
    attributes = {"stores", "version", "unread"}
    assert public | attributes <= set(vars(VisibleCatalogue)), "a call that is not limited tells of every run"


def test_a_stream_ends_when_its_token_or_role_does(people: Database) -> None:
    join(people, "bo", "viewer", "p")
    bo = find_user(people, "bo")
    (first, other), caller = (make_token(people, bo.id), make_token(people, bo.id)), partial(caller_of, people)
    ends = {first[1]: partial(revoke_token, people, first[0].id)}
    ends[other[1]] = partial(set_role, people, "p", "writer", user="bo")
    for secret, end in ends.items():
        found = caller(secret, ("personal",))
        assert found is not None
        assert token_holds(people, found)
        end()
        assert not token_holds(people, found)


def test_a_stolen_token_makes_no_other_one_and_revokes_none(callers: dict[str, Caller], people: Database) -> None:
    writer, _ = make_token(people, find_user(people, "writer").id, "session")
    for thief in ("sender", "writer", "link"):
        assert callers[thief].post("/api/tokens/make", {"name": "mine for ever"}).status_code == 403
        assert callers[thief].post("/api/tokens/revoke", {"id": writer.id}).status_code == 403
    assert token_holds(people, _session(people, "writer"))


def _session(people: Database, name: str) -> Person:
    _, secret = make_token(people, find_user(people, name).id, "session")
    found = caller_of(people, secret, ("session",))
    assert found is not None
    return found


def test_a_guest_with_a_link_meets_nobody(callers: dict[str, Caller]) -> None:
    assert callers["link"].post("/api/people").json()["people"] == []
    assert len(callers["viewer"].post("/api/people").json()["people"]) > 5


def test_who_lost_a_role_reads_nothing_by_removing_their_comment(
    callers: dict[str, Caller], runs: dict[str, str], people: Database
) -> None:
    said = callers["writer"].post("/api/comments/add", {"run": runs["p"], "text": "mine"}).json()["comments"]
    callers["viewer"].post("/api/comments/add", {"run": runs["p"], "text": "for p only"})
    set_role(people, "p", None, user="writer")
    set_role(people, "q", "writer", user="writer")
    answer = callers["writer"].post("/api/comments/remove", {"id": said[0]["id"]})
    assert (answer.status_code, "for p only" in answer.text) == (404, False)


def test_a_link_leaves_a_browser_signed_in(app: Starlette, callers: dict[str, Caller], people: Database) -> None:
    link = callers["writer"].post("/api/links/make", {"project": "p"}).json()["url"]
    for name, kept in (("viewer", True), ("outsider", False)):
        browser = Caller(app, **{"x-stepscope": "1"})
        _, secret = make_token(people, find_user(people, name).id, "session")
        browser.cookies.set("stepscope-7007", secret, domain="127.0.0.1")
        assert browser.get(link, follow_redirects=False).status_code == 303
        assert (browser.get("/api/me").json()["kind"] == "session") is kept
