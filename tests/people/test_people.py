"""Users, tokens, roles and teams, on SQLite and on PostgreSQL."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
import sqlalchemy as sql

from stepscope.database import tables
from stepscope.database.engine import Database, open_database
from stepscope.database.migrate import migrate
from stepscope.errors import Conflict, NotFound, UsageError
from stepscope.people.address import address_of, note_address
from stepscope.people.audit import audit_log, note
from stepscope.people.caller import Caller, checked_role, checked_scopes
from stepscope.people.comments import Topic, add_comment, comments_on, mark_seen, mentions_of, remove_comment
from stepscope.people.roles import Member, members, remove_team, set_role, set_team, teams
from stepscope.people.setup import first_invitation
from stepscope.people.tokens import caller_of, make_token, redeem_invite, revoke_token, tokens_of, what_is_wrong
from stepscope.people.users import add_user, change_user, find_user, users


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with open_database(database_url) as database:
        migrate(database)
        yield database


def caller(database: Database, name: str) -> Caller:
    _, secret = make_token(database, find_user(database, name).id)
    found = caller_of(database, secret, ("personal",))
    assert found is not None
    return found


def test_users_are_listed_by_name_and_named_once(database: Database) -> None:
    add_user(database, "bo", email="bo@example.org")
    ada = add_user(database, "ada", admin=True)
    assert users(database) == [ada, find_user(database, "bo")]
    with pytest.raises(Conflict, match="'ada' already"):
        add_user(database, "ada")
    for wrong in ("", "a b", "-x", "x" * 101, "a\n"):
        with pytest.raises(UsageError, match="not a user name"):
            add_user(database, wrong)
    with pytest.raises(NotFound, match="no user 'eve'"):
        find_user(database, "eve")


def test_the_last_admin_stays_one(database: Database) -> None:
    add_user(database, "ada", admin=True)
    for change in ({"admin": False}, {"disabled": True}):
        with pytest.raises(Conflict, match="the last admin"):
            change_user(database, "ada", **change)
    add_user(database, "bo", admin=True)
    assert change_user(database, "ada", admin=False).admin is False


def test_a_secret_is_not_in_the_database(database: Database) -> None:
    ada = add_user(database, "ada")
    _, secret = make_token(database, ada.id)
    with database.reading() as connection:
        rows = [list(row) for row in connection.execute(sql.select(tables.tokens))]
    assert secret not in str(rows)
    assert secret.removeprefix("stepscope_") not in str(rows)
    assert len(secret) > 50


def test_a_token_says_who_and_when_it_was_used(database: Database) -> None:
    ada = add_user(database, "ada")
    token, secret = make_token(database, ada.id, name="laptop", scopes=["read", "ingest"])
    assert tokens_of(database, ada.id) == [token]
    found = caller_of(database, secret, ("personal", "session"))
    assert found == Caller(ada.id, "ada", token.id, "personal", frozenset({"read", "ingest"}))
    used = tokens_of(database, ada.id)[0].used
    assert used is not None
    assert find_user(database, "ada").signed_in == used
    assert caller_of(database, secret, ("session",)) is None
    assert caller_of(database, secret + "x", ("personal",)) is None


def test_revoked_expired_and_disabled_are_refused_at_once(database: Database) -> None:
    add_user(database, "root", admin=True)
    ada = add_user(database, "ada")
    token, secret = make_token(database, ada.id)
    with pytest.raises(NotFound):
        revoke_token(database, token.id, user="somebody-else")
    revoke_token(database, token.id, user=ada.id)
    assert caller_of(database, secret, ("personal",)) is None
    assert tokens_of(database, ada.id) == []
    with pytest.raises(NotFound):
        revoke_token(database, token.id)

    token, secret = make_token(database, ada.id, lifetime_s=3600)
    assert caller_of(database, secret, ("personal",)) is not None
    with database.writing() as connection:
        connection.execute(tables.tokens.update().values(expires=time.time() - 1))
    assert caller_of(database, secret, ("personal",)) is None

    _, secret = make_token(database, ada.id)
    change_user(database, "ada", disabled=True)
    assert caller_of(database, secret, ("personal",)) is None
    change_user(database, "ada", disabled=False)
    assert caller_of(database, secret, ("personal",)) is not None


def test_an_invitation_works_once_also_for_many_at_once(database: Database) -> None:
    ada = add_user(database, "ada")
    _, invite = make_token(database, ada.id, "invite", lifetime_s=60)
    assert caller_of(database, invite, ("personal", "session", "link")) is None
    got = []
    together = threading.Barrier(4, timeout=60)

    def redeem() -> None:
        together.wait()
        got.append(redeem_invite(database, invite))

    threads = [threading.Thread(target=redeem) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    [session] = [one for one in got if one is not None]
    assert len(got) == 4
    found = caller_of(database, session[1], ("session",))
    assert found is not None
    assert found.name == "ada"


def test_a_machine_that_signs_in_by_invitation_gets_no_admin_token(database: Database) -> None:
    ada = add_user(database, "ada", admin=True)
    _, invite = make_token(database, ada.id, "invite", lifetime_s=60)
    made = redeem_invite(database, invite, "personal")
    assert made is not None
    assert made[0].scopes == {"ingest", "read", "write"}


def test_roles_of_users_and_teams_add_up(database: Database) -> None:
    add_user(database, "ada")
    assert caller(database, "ada").projects("read") == frozenset()
    set_role(database, "vision", "viewer", user="ada")
    set_team(database, "lab", ["ada"])
    set_role(database, "text", "writer", team="lab")
    set_role(database, "vision", "admin", team="lab")
    ada = caller(database, "ada")
    assert ada.roles == {"vision": "admin", "text": "writer"}
    assert [ada.may(scope, "text") for scope in ("read", "write", "ingest", "admin")] == [True, True, True, False]
    assert ada.projects("admin") == {"vision"}
    assert not ada.may("read", "audio")
    assert teams(database) == {"lab": ["ada"]}
    assert members(database, "vision") == [
        Member("vision", "ada", None, "viewer"),
        Member("vision", None, "lab", "admin"),
    ]
    remove_team(database, "lab")
    assert caller(database, "ada").roles == {"vision": "viewer"}
    set_role(database, "vision", None, user="ada")
    assert caller(database, "ada").roles == {}
    with pytest.raises(NotFound):
        set_team(database, "lab", ["eve"])
    assert teams(database) == {}
    with pytest.raises(NotFound):
        set_role(database, "vision", "viewer", team="lab")


def test_a_role_in_every_project_and_a_narrow_token() -> None:
    everything = frozenset(checked_scopes(["ingest", "read", "write", "admin"]))
    ada = Caller("1", "ada", "t", "personal", everything, roles={"*": "viewer", "text": "writer"})
    assert (ada.projects("read"), ada.projects("write")) == (None, {"text"})
    assert ada.role_in("text") == "writer"
    sender = Caller("1", "ada", "t", "personal", frozenset({"ingest"}), roles={"*": "writer"})
    assert (sender.may("ingest", "x"), sender.may("read", "x"), sender.may_somewhere("write")) == (True, False, False)
    root = Caller("1", "root", "t", "session", everything, admin=True)
    assert (root.is_admin, root.projects("admin")) == (True, None)
    link = Caller("1", "root", "t", "link", frozenset({"read"}), run="01J")
    assert (link.is_admin, link.may_somewhere("read"), link.may("read", "x")) == (False, True, False)


def test_a_link_shows_its_project_whatever_its_maker_may_do(database: Database) -> None:
    root = add_user(database, "root", admin=True)
    _, secret = make_token(database, root.id, "link", scopes=["read"], project="vision", lifetime_s=60)
    found = caller_of(database, secret, ("link",))
    assert found is not None
    assert (found.admin, found.projects("read"), found.may_somewhere("write")) == (False, {"vision"}, False)


def test_the_audit_log_is_read_from_its_end(database: Database) -> None:
    for number in range(5):
        note(database, "ada", "tokens/make", str(number), address="127.0.0.1")
    newest = audit_log(database, most=2)
    assert [entry.subject for entry in newest] == ["4", "3"]
    assert [entry.subject for entry in audit_log(database, before=newest[-1].id)] == ["2", "1", "0"]


def test_other_words_are_refused() -> None:
    with pytest.raises(UsageError, match="'all' is not a scope"):
        checked_scopes(["read", "all"])
    with pytest.raises(UsageError, match="nothing is not a scope"):
        checked_scopes([])
    with pytest.raises(UsageError, match="'owner' is not a role"):
        checked_role("owner")
    with pytest.raises(UsageError, match="0 days"):
        make_token(None, "x", lifetime_s=0)  # type: ignore[arg-type]


def test_comments_mention_who_may_see_the_project(database: Database) -> None:
    ada, bo = add_user(database, "ada"), add_user(database, "bo.x")
    add_user(database, "cy")
    set_role(database, "vision", "viewer", user="bo.x")
    at_step, run = Topic(run="01J", chart="loss", step=7), Topic(run="01J")
    first = add_comment(database, ada.id, "vision", at_step, "see @bo.x, and @cy. mail@bo.x is none").id
    add_comment(database, ada.id, "vision", run, "@bo.x.")
    assert [(one.user, one.topic) for one in comments_on(database, run)] == [("ada", at_step), ("ada", run)]
    assert comments_on(database, Topic(run="01K")) == []
    assert comments_on(database, Topic(report="01J")) == []
    assert len(mentions_of(database, bo.id)) == 2
    assert mentions_of(database, find_user(database, "cy").id) == []
    mark_seen(database, bo.id, [first])
    assert [one.text for one in mentions_of(database, bo.id)] == ["@bo.x."]
    with pytest.raises(NotFound):
        remove_comment(database, first, user=bo.id)
    assert remove_comment(database, first, user=ada.id).id == first
    for text in ("", "  ", "x" * 20_001):
        with pytest.raises(UsageError, match="1 to 20,000"):
            add_comment(database, ada.id, "vision", run, text)


def test_who_shows_a_secret_that_opens_nothing_hears_why(database: Database) -> None:
    ada = add_user(database, "ada", admin=True)
    today = time.strftime("%Y-%m-%d", time.gmtime())
    token, revoked = make_token(database, ada.id)
    revoke_token(database, token.id)
    _, expired = make_token(database, ada.id, lifetime_s=1e-6)
    _, old_link = make_token(database, ada.id, "link", lifetime_s=1e-6)
    _, invitation = make_token(database, ada.id, "invite", lifetime_s=60)
    _, used = make_token(database, ada.id, "invite", lifetime_s=60)
    assert redeem_invite(database, used) is not None
    _, disabled = make_token(database, add_user(database, "bo").id)
    change_user(database, "bo", disabled=True)
    assert [what_is_wrong(database, one) for one in (revoked, expired, old_link, invitation, used, disabled, "x")] == [
        f"This token was revoked on {today}.",
        f"This token expired on {today}.",
        f"This link expired on {today}.",
        "This is an invitation, and not a token for programs.",
        "This invitation was used already; it works once.",
        f"The user bo was disabled on {today}.",
        "This server does not know this token; it may be mistyped, or be for another server.",
    ]


def test_a_mail_address_is_set_and_removed(database: Database) -> None:
    add_user(database, "ada", email="ada@example.org")
    assert change_user(database, "ada", email="a@example.org").email == "a@example.org"
    with pytest.raises(UsageError, match="not an email address"):
        change_user(database, "ada", email="nobody")
    assert change_user(database, "ada", email="").email is None


def test_a_start_ends_the_first_admins_invitation_and_no_other(database: Database) -> None:
    """People who were invited before an admin has signed in can still do so after a restart."""
    name, first = first_invitation(database) or ("", "")
    bo = add_user(database, "bo")
    _, invited = make_token(database, bo.id, "invite", lifetime_s=60)
    again = first_invitation(database)
    assert again is not None
    assert again[0] == name
    assert caller_of(database, first, ("invite",)) is None
    assert caller_of(database, again[1], ("invite",)) is not None
    assert caller_of(database, invited, ("invite",)) is not None


def test_the_address_is_that_of_the_last_start(database: Database) -> None:
    assert address_of(database) is None
    note_address(database, "http://127.0.0.1:7007")
    note_address(database, "https://runs.example.org/")
    assert address_of(database) == "https://runs.example.org"
