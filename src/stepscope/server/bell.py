"""Several server processes on one PostgreSQL: whoever takes something in rings, and all others look at once.

It goes over LISTEN and NOTIFY. Nothing depends on it: a bell that nobody hears (the database is away) only means that
pages learn of it when the next regular look finds the change.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import psycopg

from stepscope.database.engine import Database
from stepscope.server.run_table import CHANNEL

log = logging.getLogger("stepscope.server")

TURN_S = 0.1
"""How long a ring may wait for others to be rung with it."""
AWAY_S = 1.0
WORDS = "stepscope_words"
MOST_WORDS = 1000
"""That wait while the database is away; the oldest go first."""


class Bell:
    """`start` and `stop` bracket its thread. `hear` is called in it, in every process, some time after a `ring`.

    `read` is called for each word that a process has sent around.
    """

    def __init__(
        self, database: Database, hear: Callable[[], object], read: Callable[[str], object] = lambda _: None
    ) -> None:
        self._url, self._hear, self._read = database.url, hear, read
        self._rung = threading.Event()
        self._words: deque[str] = deque(maxlen=MOST_WORDS)
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.listening = threading.Event()
        """Set while the database is there."""

    def ring(self) -> None:
        """Never waits: the thread passes it on."""
        self._rung.set()

    def send(self, word: str) -> None:
        """The same with a word."""
        self._words.append(word)

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="stepscope-bell", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(15)
            self._thread = None

    def _run(self) -> None:
        away = False
        while not self._stopping.is_set():
            try:
                with psycopg.connect(self._url, autocommit=True, connect_timeout=10) as connection:
                    away = False
                    self._listen(connection)
            except psycopg.Error as fault:
                self.listening.clear()
                if not away:
                    log.warning(
                        "the database is unreachable; pages update later: %s", str(fault).strip().partition("\n")[0]
                    )
                away = True
                self._stopping.wait(AWAY_S)

    def _listen(self, connection: psycopg.Connection[Any]) -> None:
        for channel in (CHANNEL, WORDS):
            connection.execute(f"LISTEN {channel}".encode())
        self.listening.set()
        self._hear()  # what happened while nobody listened
        while not self._stopping.is_set():
            if self._rung.is_set():
                self._rung.clear()
                connection.execute(f"NOTIFY {CHANNEL}".encode())
            while self._words:
                connection.execute("SELECT pg_notify(%s, %s)", (WORDS, self._words.popleft()))
            heard = False
            for one in connection.notifies(timeout=TURN_S):
                if one.channel == WORDS:
                    self._read(one.payload)
                else:
                    heard = True
            if heard:
                self._hear()
