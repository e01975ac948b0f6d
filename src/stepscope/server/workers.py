"""Several processes behind one address: the first binds it and starts the others, which all accept from its socket.

The system hands each connection to one of them. They share the folder, the database and nothing else, so one that dies
takes only its own requests with it; it is started again.
"""

from __future__ import annotations

import logging
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence

from stepscope.errors import StepscopeError

log = logging.getLogger("stepscope.server")

REST_S = 1.0
"""Before one that died is started again."""
LEAVE_S = 60.0
"""How long they may take to finish what they do."""
_MOST_DEATHS = 5
"""So many without one that lived for a while: it will not start."""
_LIVED_S = 30.0


def serve_by_workers(words: Sequence[str], listener: socket.socket, count: int) -> None:
    """Run `stepscope WORDS... --listener FD` in `count` processes until a signal ends us.

    Each notes its numbers in a file of its own (`--meters`), so that whoever is asked for `/metrics` has those of all.
    """
    stopping = threading.Event()
    before = {one: signal.signal(one, lambda *_: stopping.set()) for one in (signal.SIGINT, signal.SIGTERM)}
    started: dict[subprocess.Popen[bytes], float] = {}
    places: dict[subprocess.Popen[bytes], int] = {}
    deaths = 0
    folder = tempfile.mkdtemp(prefix="stepscope-workers-")

    def start(place: int) -> None:
        given = ["--listener", str(listener.fileno()), "--meters", f"{folder}/{place}"]
        one = subprocess.Popen([sys.executable, "-m", "stepscope", *words, *given], pass_fds=[listener.fileno()])
        started[one], places[one] = time.monotonic(), place

    try:
        while not stopping.is_set():
            for one in [one for one in started if one.poll() is not None]:
                lived = time.monotonic() - started.pop(one)
                del places[one]
                deaths = 0 if lived > _LIVED_S else deaths + 1
                log.warning("a server process ended with status %s and is started again", one.returncode)
                if deaths > _MOST_DEATHS:
                    raise StepscopeError("the server's processes end as soon as they start; their messages say why")
                stopping.wait(REST_S)
            for place in sorted(set(range(count)) - set(places.values())):
                if not stopping.is_set():
                    start(place)
            stopping.wait(0.2)
    finally:
        _end(list(started))
        shutil.rmtree(folder, ignore_errors=True)
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for one in processes:
        one.terminate()
    deadline = time.monotonic() + LEAVE_S
    for one in processes:
        try:
            one.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            one.kill()
            one.wait()
