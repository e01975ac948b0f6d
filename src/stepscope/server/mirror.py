"""`stepscope ui https://runs.example.org`: the runs of a server in the local app, brought into the cache and followed.

The page opens at once, the newest runs come first, and what is here stays readable while the server is away.
"""

from __future__ import annotations

import logging
import threading
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from stepscope.errors import ConfigError, StepscopeError
from stepscope.fence import fenced
from stepscope.runs.catalogue.index import cache_folder
from stepscope.sync.pull import Fetched, pull
from stepscope.sync.remote import Remote, check_address
from stepscope.sync.servers import login_for

log = logging.getLogger("stepscope.server")

LOOK_S = 2.0
AWAY_S = 10.0


def is_address(place: str | Path) -> bool:
    """Whether a place is a server's address and not a folder."""
    return str(place).startswith(("http://", "https://"))


class Mirror:
    """`start` and `stop` bracket the thread that fills `store`."""

    def __init__(self, url: str) -> None:
        parts = check_address(url)
        self.url = f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")
        login = login_for(self.url)
        if login is None:
            raise ConfigError(f"this machine is not logged in to {self.url}; run `stepscope login {self.url}` first")
        self._token = login.token
        # Another user of the same server may see other runs.
        key = sha256(f"{self.url} {login.user}".encode()).hexdigest()[:12]
        self.store = cache_folder() / "servers" / f"{urlsplit(self.url).hostname}-{key}"
        self._fetched = Fetched(self.store)
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        run = fenced("following a server")(self._run)
        self._thread = threading.Thread(target=run, name="stepscope-mirror", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(30)
            self._thread = None

    def _run(self) -> None:
        told = ""
        while not self._stopping.is_set():
            trouble = self._look()
            if trouble and trouble != told:
                log.warning("runs of %s are not followed: %s", self.url, trouble)
            told = trouble
            self._stopping.wait(AWAY_S if trouble else LOOK_S)

    def _look(self) -> str:
        """Bring in what is new; why it could not be done, or nothing."""
        try:
            with Remote(self.url, self._token) as remote:
                done = pull(remote, self._fetched, stop=self._stopping.is_set)
        except (StepscopeError, OSError) as fault:
            return str(fault)
        return next(iter(done.problems.values()), "")
