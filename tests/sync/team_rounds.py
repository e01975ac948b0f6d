"""Rounds of a team's server under fire: a faulty network, and `kill -9` of the client, the server and PostgreSQL.

    python -m tests.sync.team_rounds --rounds 500

Runs grow all the time. A proxy between client and server notes what the server has acknowledged. After each round that
much is on the server's disk, byte for byte; every ten rounds the network heals, the client catches up, and both sides
are compared whole.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.ports import reserved_port
from tests.postgres import Postgres
from tests.sync.fault_proxy import Answer, FaultProxy, Request
from tests.team import TOKEN, people_in

from stepscope.records import RunMeta
from stepscope.runs.format.blobs import put_bytes
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter

__all__ = ["Rounds", "main"]

_PIECE = re.compile(r"/api/sync/([A-Z0-9]{26})/([^?]+)")
_PATIENCE_S = 240.0


class NotingProxy(FaultProxy):
    """Keeps what the server has acknowledged, whether or not the client hears of it."""

    def __init__(self, target: str, dice: random.Random, share: float = 0.3) -> None:
        super().__init__(target, dice, share)
        self.usual = share
        self.acknowledged: dict[str, int] = {}

    def forward(self, request: Request) -> Answer | None:
        answer = super().forward(request)
        found = _PIECE.match(request.path)
        if answer is not None and answer[0] == 200 and request.method == "POST" and found is not None:
            name = f"{found[1]}/{found[2]}"
            self.acknowledged[name] = max(json.loads(answer[1])["size"], self.acknowledged.get(name, 0))
        return answer

    def hurt(self) -> None:
        self._share = self.usual


class Rounds:
    def __init__(self, folder: Path, dice: random.Random) -> None:
        self.store, self.home = folder / "client", folder / "server"
        self.said = folder / "said"
        """What the processes wrote; where each of their threads was, when one did not come to an end."""
        self.dice, self.kills = dice, Counter[str]()
        self.store.mkdir()
        self.postgres = Postgres()
        self.database = self.postgres.new_database()
        with people_in(self.home, self.database):
            pass
        self._reserved = reserved_port()
        self.port = self._reserved.__enter__()
        self.proxy = NotingProxy(f"http://127.0.0.1:{self.port}", dice)
        self.proxy.__enter__()
        self.server, self.client = self._start_server(), self._start_client()
        self.writers: list[RunWriter] = []
        self.steps = 0

    # -- processes --------------------------------------------------------------------------------------------

    def _start_server(self) -> subprocess.Popen[bytes]:
        words = ["server", str(self.home), "--port", str(self.port), "--database", self.database, "--json"]
        return self._stepscope(*words)

    def _start_client(self, *, follow: bool = True) -> subprocess.Popen[bytes]:
        return self._stepscope(
            "sync", str(self.store), "--to", self.proxy.url, *(["--follow", "--every", "0.05"] if follow else [])
        )

    def kill(self, what: str) -> None:
        self.kills[what] += 1
        if what == "client":
            _end(self.client)
            self.client = self._start_client()
        elif what == "server":
            _end(self.server)
            self.server = self._start_server()
        elif what == "postgresql":
            os.kill(self.postgres.pid, 9)
            self._start_postgresql()

    def _start_postgresql(self) -> None:
        until = time.monotonic() + _PATIENCE_S
        while True:  # its other processes notice in their own time, and it does not start before they are gone
            try:
                self.postgres.start()
                return
            except (subprocess.CalledProcessError, RuntimeError, AssertionError):
                assert time.monotonic() < until, "PostgreSQL does not start again"
                time.sleep(0.2)

    # -- a round ----------------------------------------------------------------------------------------------

    def one(self) -> None:
        if not self.writers or self.dice.random() < 0.1:
            self._new_run()
        self._write(self.dice.randrange(1, 200))
        self._wait_for_server()
        time.sleep(self.dice.uniform(0.05, 0.6))
        self.kill(self.dice.choice(["client", "server", "postgresql", "network only"]))
        self._write(self.dice.randrange(1, 50))
        self.check_acknowledged()

    def _wait_for_server(self) -> None:
        """A server that is killed before it listens proves nothing; most of the time it is let come up.

        One that found no database when it started has ended; what started it (systemd, say) starts it again.
        """
        until = time.monotonic() + _PATIENCE_S
        waits = self.dice.random() < 0.95
        while time.monotonic() < until:
            if self.server.poll() is not None:
                self.server = self._start_server()
            if not waits or self._listens():
                return
            time.sleep(0.05)

    def _listens(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return True
        except OSError:
            return False

    def _new_run(self) -> None:
        if len(self.writers) >= 3:
            self.writers.pop(0).close()
        about = RunMeta(id=new_run_id(), project="p", name="fire", created=time.time())
        run = create_run(self.store, about)
        put_bytes(run, self.dice.randbytes(self.dice.randrange(1, 300_000)))
        self.writers.append(RunWriter(run, run_id=about.id, heartbeat_s=0, fsync_s=0))

    def _write(self, points: int) -> None:
        for writer in self.writers:
            row = writer.keyset(("loss", "lr"))
            for _ in range(points):
                self.steps += 1
                row.write(self.steps, (1 / self.steps, 0.1))

    def check_acknowledged(self) -> None:
        """What the server said it has is there, and is what the client wrote."""
        for name, size in list(self.proxy.acknowledged.items()):
            run, _, inner = name.partition("/")
            there = self.home / run / inner
            if not there.exists():  # a part of a file that has not all come yet
                parts = list(there.parent.glob(".sync-*"))
                assert parts, f"{name} was acknowledged up to {size} and is not there"
                continue
            kept = there.read_bytes()
            assert len(kept) >= size, f"{name} has {len(kept)} bytes; {size} were acknowledged"
            assert (self.store / run / inner).read_bytes()[: len(kept)] == kept, f"{name} has other bytes"

    def catch_up(self) -> None:
        """The network is sound for once: after one pass both sides are the same."""
        self.proxy.heal()
        until = time.monotonic() + _PATIENCE_S
        while True:
            self._wait_for_server()
            done = self._start_client(follow=False)
            try:
                code = done.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                raise AssertionError(f"the client does not end\n{self._threads_of(done, self.server)}") from None
            if code == 0:
                break
            assert time.monotonic() < until, f"the client does not catch up: exit {code}"
        here, there = _files(self.store), _files(self.home)
        assert here == there, sorted(here.keys() ^ there.keys()) or [name for name in here if here[name] != there[name]]
        self.proxy.hurt()

    def _threads_of(self, *processes: subprocess.Popen[bytes]) -> str:
        for process in processes:
            process.send_signal(signal.SIGABRT)
            process.wait(60)
        return self.said.read_text(errors="replace")[-20_000:]

    def _stepscope(self, *words: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "STEPSCOPE_TOKEN": TOKEN, "PYTHONFAULTHANDLER": "1"}
        with self.said.open("ab") as said:
            command = [sys.executable, "-m", "stepscope", *words]
            return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=said)

    def close(self) -> None:
        for process in (self.client, self.server):
            _end(process)
        for writer in self.writers:
            writer.close()
        self.proxy.__exit__(None, None, None)
        self._reserved.__exit__(None, None, None)
        self.postgres.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait(60)


def _files(store: Path) -> dict[str, bytes]:
    return {
        path.relative_to(store).as_posix(): path.read_bytes()
        for path in store.glob("01*/**/*")
        if path.is_file() and not path.name.startswith(".")
    }


def fire(rounds: int, seed: int, say: bool = False) -> Counter[str]:
    """So many rounds, each checked; what was killed and which faults the network had."""
    with tempfile.TemporaryDirectory() as folder:
        under_fire = Rounds(Path(folder), random.Random(seed))
        try:
            for number in range(1, rounds + 1):
                under_fire.one()
                if number % 10 == 0 or number == rounds:
                    under_fire.catch_up()
                    if say:
                        print(f"{number} rounds, {dict(under_fire.kills)}, {len(under_fire.proxy.acknowledged)} files")
            faults = Counter({name: count for name, count in under_fire.proxy.faults.items() if name})
            return under_fire.kills + faults + Counter({"files compared": len(_files(under_fire.store))})
        finally:
            under_fire.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(dict(fire(asked.rounds, asked.seed, say=True)))


if __name__ == "__main__":
    main()
