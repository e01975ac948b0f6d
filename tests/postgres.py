"""A real PostgreSQL for tests: started in a temporary folder, reached over a Unix socket, stopped at the end.

`postgres` (in conftest.py) is one server per test process; `new_database()` makes an empty database in it.
PostgreSQL refuses to run as root, so there it runs as another user of the machine.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg

__all__ = ["Postgres"]

_SETTINGS = (
    "-c listen_addresses='' -c fsync=off -c synchronous_commit=off -c full_page_writes=off "
    "-c max_connections=100 -c shared_buffers=32MB"
)


class Postgres:
    """One server. `durable` keeps the settings that survive a `kill -9` of the machine, not only of the process."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ss-pg-"))  # short: a socket's path has 107 bytes at most
        self._data = self.folder / "data"
        self._user = _other_user() if os.geteuid() == 0 else None
        if self._user is not None:
            os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
        self._run("initdb", "-D", str(self._data), "-U", "stepscope", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.start()

    def start(self) -> None:
        options = f"-k {self.folder} {_SETTINGS}"
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self._data), "-l", log, "-o", options, "-w", "-t", "120", "start")

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-D", str(self._data), "-m", mode, "-w", "-t", "120", "stop")

    @property
    def pid(self) -> int:
        """The process that all others end with."""
        return int((self._data / "postmaster.pid").read_text().split()[0])

    def url(self, database: str) -> str:
        return f"postgresql://stepscope@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """The address of an empty database."""
        name = f"t{secrets.token_hex(6)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
        return self.url(name)

    def close(self) -> None:
        try:
            self.stop()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        user = {} if self._user is None else {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}
        with open(self.folder / f"{program}.out", "a+b") as out:  # a pipe would be held open by the server
            done = subprocess.run(
                [program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                timeout=180,
                env={**os.environ, "LC_ALL": "C.UTF-8"},
                **user,  # type: ignore[arg-type]
            )
            if done.returncode:
                out.seek(0)
                raise RuntimeError(f"{program} failed: {out.read().decode(errors='replace')[-2000:]}")


def _other_user() -> pwd.struct_passwd:
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]
