"""Tells people of comments that mention them: by mail where they have an address, and in the team's chat by webhook.

What is to be sent is a job in the database, added with the comment in one transaction. So it survives a restart, any
process of the server may send it, and a mail server that is away gets it later. The page shows mentions by itself.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection

import sqlalchemy as sql

from stepscope.database.engine import Database
from stepscope.database.tables import users
from stepscope.errors import NotFound
from stepscope.fence import fenced
from stepscope.people.caller import EVERY
from stepscope.people.comments import Comment, Topic, comment
from stepscope.server.jobs import Job, Jobs
from stepscope.server.mail import Mail
from stepscope.server.webhook import Webhook
from stepscope.views.notice import Notice

log = logging.getLogger("stepscope.server")

AGAIN_S = 10.0


class Messenger:
    """`start` and `stop` bracket its thread; `once` sends what waits."""

    def __init__(
        self,
        database: Database,
        mail: Mail | None,
        webhook: Webhook | None,
        public_url: str = "",
        announce: Callable[[str], object] = lambda _: None,
        title_of: Callable[[Topic], str] = lambda topic: topic.report or topic.run or "",
    ) -> None:
        """`announce` tells open pages where there is a new comment; `title_of` names its run or report."""
        self._database, self._mail, self._webhook, self._announce = database, mail, webhook, announce
        self._title_of = title_of
        self._public_url = public_url.rstrip("/")
        self._jobs = Jobs(database)
        self._kinds = [kind for kind, channel in (("mail", mail), ("webhook", webhook)) if channel is not None]
        self._wake, self._stopping = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def tell(self, connection: sql.Connection, comment: str, mentioned: Collection[str]) -> None:
        """Queue messages to users (by id) about a comment, in the transaction that stores it."""
        if self._mail is not None:
            self._jobs.add("mail", [f"{comment} {user}" for user in mentioned], connection)
        if self._webhook is not None and mentioned:
            self._jobs.add("webhook", [comment], connection)

    def said(self, topic: Topic) -> None:
        """A comment was added or removed: pages show it, and what is to be sent goes now."""
        self._announce(topic.key)
        self._wake.set()

    def start(self) -> None:
        if self._kinds:
            self._stopping.clear()
            self._thread = threading.Thread(target=self._run, name="stepscope-messenger", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(1.0)  # a slow mail server does not hold up the end: the job is taken again later
            self._thread = None

    def _run(self) -> None:
        turn = fenced("telling people of comments")(self.once)
        while not self._stopping.is_set():
            turn()
            self._wake.wait(AGAIN_S)
            self._wake.clear()

    def once(self) -> None:
        while not self._stopping.is_set() and (job := self._jobs.take(*self._kinds)) is not None:
            trouble = self._sent(job)
            if trouble is None:
                self._jobs.done(job)
            else:
                log.warning("a mention could not be sent: %s", trouble)
                self._jobs.failed(job, trouble)

    def _sent(self, job: Job) -> str | None:
        id, _, user = job.subject.partition(" ")
        try:
            about = comment(self._database, id)
        except NotFound:  # removed meanwhile
            return None
        if job.kind == "webhook" and self._webhook is not None:
            return self._webhook.send(self._notice(about))
        address = self._address(user)
        if self._mail is None or address is None:
            return None
        where = self._where(about)
        text = f"{about.text}\n\n{where}\n{self._link(about)}".rstrip() + "\n"
        return self._mail.send(address, f"{about.user} mentioned you in a comment on {where}", text)

    def _address(self, user: str) -> str | None:
        find = sql.select(users.c.email).where(users.c.id == user, users.c.disabled.is_(None))
        with self._database.reading() as connection:
            return connection.scalar(find)

    def _notice(self, about: Comment) -> Notice:
        return Notice(
            run=about.topic.run or "",
            title=f"{about.user} commented",
            text=f"{about.text}\n{self._link(about)}".rstrip(),
            level="info",
            kind="mention",
            id=about.id,
            time=about.created,
            name=self._where(about),
            project="" if about.project == EVERY else about.project,
        )

    def _where(self, about: Comment) -> str:
        topic = about.topic
        title = self._title_of(topic)
        if topic.report is not None:
            return f"the report {title}"
        step = "" if topic.step is None else f" at step {topic.step:,}"
        chart = "" if topic.chart is None else f", {topic.chart}{step}"
        return f"{title}{chart}"

    def _link(self, about: Comment) -> str:
        if not self._public_url:
            return ""
        topic = about.topic
        page = f"report/{topic.report}" if topic.report is not None else f"run/{topic.run}"
        return f"{self._public_url}/#/{page}"
