"""Whoever a comment mentions is told: on the page, by mail and in the team's chat; once, and also after a fault."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.runs.making import make_run
from tests.smtp import MailServer, mail_server
from tests.team import join

from stepscope.database.engine import Database
from stepscope.errors import ConfigError
from stepscope.people.comments import Topic, add_comment, comments_on, remove_comment
from stepscope.people.roles import set_role
from stepscope.people.setup import open_people
from stepscope.people.users import add_user
from stepscope.report import store as reports
from stepscope.server.jobs import Jobs
from stepscope.server.mail import Mail
from stepscope.server.messenger import Messenger
from stepscope.server.serve import running
from stepscope.server.settings import Settings
from stepscope.server.webhook import Webhook

from .test_alert_channels import Chat, chat  # noqa: F401  (a fixture)


@pytest.fixture
def post_office() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server


@pytest.fixture
def people(database_url: str) -> Iterator[Database]:
    with open_people(database_url) as people:
        yield people


def _until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


def _trio(people: Database) -> tuple[str, str]:
    """Ada writes; bo has an address, cy has none."""
    ada = add_user(people, "ada", email="ada@example.org")
    for name, address in (("bo", "bo@example.org"), ("cy", None)):
        add_user(people, name, email=address)
        set_role(people, "vision", "viewer", user=name)
    set_role(people, "vision", "viewer", user="ada")
    return ada.id, "look, @bo and @cy and @ada:\n.a line with a dot\nhttps://example.org"


def test_mail_goes_to_whoever_is_mentioned_and_has_an_address(people: Database, post_office: MailServer) -> None:
    ada, text = _trio(people)
    mail, titles = Mail(post_office.url), {"01J": "brave-otter-3"}
    messenger = Messenger(
        people, mail, None, "https://runs.example.org/", title_of=lambda about: titles[str(about.run)]
    )
    add_comment(people, ada, "vision", Topic(run="01J", chart="loss", step=1200), text, messenger.tell)
    messenger.once()
    messenger.once()
    [(to, message)] = post_office.mail  # not to the author, and once
    assert to == "bo@example.org"
    assert (message["From"], message["Subject"]) == (
        "stepscope@example.org", "ada mentioned you in a comment on brave-otter-3, loss at step 1,200",
    )  # fmt: skip
    assert message.get_content().replace("\r\n", "\n") == (
        f"{text}\n\nbrave-otter-3, loss at step 1,200\nhttps://runs.example.org/#/run/01J\n"
    )
    assert Jobs(people).waiting() == 0


def test_the_team_chat_hears_of_a_comment_once(people: Database, chat: Chat) -> None:  # noqa: F811
    ada, text = _trio(people)
    messenger = Messenger(people, None, Webhook(chat.url), "https://runs.example.org")
    add_comment(people, ada, "*", Topic(report="results-abc"), "nobody is named", messenger.tell)
    add_comment(people, ada, "vision", Topic(run="01J"), text, messenger.tell)
    messenger.once()
    [(_, sent)] = chat.got
    assert (sent["kind"], sent["title"], sent["name"]) == ("mention", "ada commented", "01J")
    assert sent["detail"].endswith("https://runs.example.org/#/run/01J")


def test_mail_that_is_refused_is_sent_later_and_a_removed_comment_never(
    people: Database, post_office: MailServer
) -> None:
    ada, text = _trio(people)
    post_office.refuse = "450 busy"
    messenger = Messenger(people, Mail(post_office.url), None)
    first = add_comment(people, ada, "vision", Topic(run="01J"), text, messenger.tell)
    messenger.once()
    [failed] = Jobs(people).failing()
    assert (failed.kind, failed.tries, failed.error) == (
        "mail", 1, "127.0.0.1 does not take mail for this recipient",
    )  # fmt: skip
    post_office.refuse = ""
    messenger.once()
    assert post_office.mail == []  # it rests for a minute
    messenger._jobs._clock = lambda: time.time() + 120
    messenger.once()
    assert [to for to, _ in post_office.mail] == ["bo@example.org"]
    second = add_comment(people, ada, "vision", Topic(run="01J"), text, messenger.tell)
    assert second.id != first.id
    remove_comment(people, second.id)
    messenger.once()
    assert len(post_office.mail) == 1
    assert Jobs(people).waiting() == 0


def test_a_server_that_is_away_costs_no_comment(people: Database) -> None:
    ada, text = _trio(people)
    with mail_server() as gone:
        url = gone.url
    messenger = Messenger(people, Mail(url), None)
    add_comment(people, ada, "vision", Topic(run="01J"), text, messenger.tell)
    messenger.once()
    assert "cannot be reached" in Jobs(people).failing()[0].error


@pytest.mark.parametrize(
    ("url", "password", "words"),
    [
        ("http://mail.example.org", None, "not a mail server"),
        ("smtp://mail.example.org", None, "needs .from=ADDRESS"),
        ("smtp://ada:secret@mail.example.org?from=a@b.org", None, "STEPSCOPE_SMTP_PASSWORD"),
        ("smtp://ada@mail.example.org?from=a@b.org", None, "needs a password"),
    ],
)
def test_a_mail_address_that_cannot_work_is_refused(url: str, password: str | None, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as fault:
        Mail(url, password)
    assert "secret" not in str(fault.value)


def test_two_processes_pass_comments_on_to_the_pages_of_both(
    store: Path, tmp_path: Path, database_url: str, post_office: MailServer
) -> None:
    """On PostgreSQL by NOTIFY; a server on SQLite has one process, and tells its own pages."""
    run = make_run(store, "one", series={"loss": [1.0]}, project="vision").name
    found, _ = reports.save([store], "# Results\n\nfine", "Results")
    with open_people(database_url) as people:
        token = join(people, "ada", "viewer", scopes=("read",))
        add_user(people, "bo", email="bo@example.org")
        set_role(people, "*", "viewer", user="bo")
        settings = Settings(
            token=None, static=tmp_path / "none", people=people, ingest=store, compact=False, mail=Mail(post_office.url)
        )
        with running([store], settings) as one, running([store], settings) as two:
            listened = two if people.is_postgresql else one
            headers = {"authorization": f"Bearer {token}", "x-stepscope": "1"}
            with httpx.stream("GET", f"{listened.url}/api/live", headers=headers, timeout=60) as live:
                events = _events(live)
                next(events)
                for topic in ({"run": run}, {"report": found.id}):
                    asked = {**topic, "text": "seen, @bo?"}
                    answer = httpx.post(f"{one.url}/api/comments/add", json=asked, headers=headers, timeout=60)
                    assert answer.status_code == 200, answer.text
                    [key] = topic
                    wanted = f"{key}:{topic[key]}"
                    assert any(wanted in event["comments"] for event in events)
            _until(lambda: len(post_office.mail) == 2)
    about = {message["Subject"] for _, message in post_office.mail}
    assert about == {f"ada mentioned you in a comment on {what}" for what in ("one", "the report Results")}


def _events(live: httpx.Response) -> Iterator[dict[str, Any]]:
    for line in live.iter_lines():
        if line.startswith("data:"):
            yield json.loads(line.removeprefix("data:"))


def test_a_comment_and_its_mail_are_kept_together_or_not_at_all(people: Database) -> None:
    ada, text = _trio(people)

    def fails(*_: object) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        add_comment(people, ada, "vision", Topic(run="01J"), text, fails)
    assert comments_on(people, Topic(run="01J")) == []
