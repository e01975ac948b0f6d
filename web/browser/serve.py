"""Serve a store for the browser tests, and play a training that is going on.

Prints the address as one line of JSON, then obeys lines on stdin: `start NAME`, `log`, `nan`, `print TEXT`,
`alert TEXT`, `find TEXT`, `end`, and of the sweep in the store `try` and `tried VALUE`; ends with stdin. A port and a
token after the store make it the server it was before. A store with a database of people is served as a team's;
`invite NAME` then answers with a link for that user.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from sweeps_store import Work

from stepscope.database.engine import FILE, Database, default_url
from stepscope.people.setup import open_people
from stepscope.people.tokens import INVITE_S, make_token
from stepscope.people.users import find_user
from stepscope.records import Alert, Console, End, Finding, FindingEvent, RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter
from stepscope.server.serve import running
from stepscope.server.settings import Settings


class Training:
    """One live run that logs when it is told to."""

    def __init__(self, store: Path, name: str) -> None:
        meta = RunMeta(id=new_run_id(), project="vae", name=name, created=time.time(), config={"lr": 0.01})
        self.writer = RunWriter(create_run(store, meta), run_id=meta.id, fsync_s=0)
        self.step = 0

    def log(self) -> None:
        row = self.writer.keyset(("train/loss",))
        for _ in range(10):
            row.write(self.step, (1 / (self.step + 1),))
            self.step += 1

    def nan(self) -> None:
        self.writer.keyset(("train/loss",)).write(self.step, (math.nan,))

    def say_line(self, text: str) -> None:
        """What the script prints; `\\n` stands for a line break, a `\\r` at its start writes over the line before."""
        rewrite = text.startswith("\\r")
        plain = text.removeprefix("\\r").replace("\\n", "\n")
        self.writer.console(Console(time=time.time(), stream="stdout", text=plain, rewrite=rewrite, step=self.step))

    def alert(self, text: str) -> None:
        self.writer.event(Alert(time=time.time(), title=text, text="see the loss", level="error"))

    def find(self, text: str) -> None:
        finding = Finding(rule="opt.no-zero-grad", severity="error", message=text, file="train.py", line=3)
        self.writer.event(FindingEvent(time=time.time(), finding=finding))

    def end(self) -> None:
        self.writer.close(End(time=time.time(), status="finished", exit_code=0))


def say(answer: dict[str, str]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def invitation(people: Database, name: str) -> str:
    return make_token(people, find_user(people, name).id, "invite", lifetime_s=INVITE_S)[1]


def main(store: Path, port: int = 0, token: str = "") -> None:
    training: Training | None = None
    work: Work | None = None
    built = os.environ.get("STEPSCOPE_STATIC")  # an app that was built elsewhere than into the package
    settings = Settings(poll_s=0.2, static=Path(built)) if built else Settings(poll_s=0.2)
    settings = replace(settings, token=token) if token else settings
    with ExitStack() as stack:
        people = stack.enter_context(open_people(default_url(store))) if (store / FILE).exists() else None
        if people is not None:
            settings = replace(settings, token=None, people=people, ingest=store, rest_s=0.0)
        server = stack.enter_context(running([store], settings, port))
        address = server.address if people is None else f"{server.url}/?token={invitation(people, 'ada')}"
        say({"address": address, "url": server.url})
        for line in sys.stdin:
            command, _, rest = line.strip().partition(" ")
            if people is not None and command == "invite":
                say({"address": f"{server.url}/?token={invitation(people, rest)}"})
                continue
            if command == "start":
                training = Training(store, rest)
                training.log()
            elif training is not None and command == "log":
                training.log()
            elif training is not None and command == "nan":
                training.nan()
            elif training is not None and command == "print":
                training.say_line(rest)
            elif training is not None and command == "alert":
                training.alert(rest)
            elif training is not None and command == "find":
                training.find(rest)
            elif training is not None and command == "end":
                training.end()
            elif command == "try":
                work = work or Work(store)
                work.start()
            elif work is not None and command == "tried":
                work.end(float(rest))
            say({})


if __name__ == "__main__":
    main(Path(sys.argv[1]), int((sys.argv[2:3] or ["0"])[0]), "".join(sys.argv[3:4]))
