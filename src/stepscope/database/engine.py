"""Open the server's database: one SQLAlchemy engine for SQLite and for PostgreSQL.

    database = open_database("postgresql://stepscope@db.example.org/stepscope")
    with database.reading() as connection: ...
    with database.writing() as connection: ...      # one transaction, committed at the end
    database.close()

SQLite in the server's folder is the default and needs nothing else. Tables are in `tables.py`, their history in
`versions/`; `migrate` brings a database up to date.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import sqlalchemy as sql
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError

from stepscope.errors import ConfigError, StorageError
from stepscope.files.database import SERVER_FILE

FILE = SERVER_FILE
BUSY_S = 30.0
"""How long a writer of a SQLite file waits for another."""
_WRITES = "stepscope_writes"


class Database:
    """An engine, and the two ways to use it. Safe to use from several threads."""

    def __init__(self, engine: sql.Engine) -> None:
        self.engine = engine
        self.is_postgresql = engine.dialect.name == "postgresql"

    @property
    def name(self) -> str:
        """Its address without the password, for messages."""
        return self.engine.url.render_as_string(hide_password=True).replace("+psycopg", "")

    @property
    def url(self) -> str:
        """Its address with the password, for `open_database` in another process."""
        return self.engine.url.render_as_string(hide_password=False).replace("+psycopg", "")

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        with self.engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sql.Connection]:
        """A transaction. In SQLite it takes the write lock at its start, so what it read stays true until it writes."""
        with self.engine.connect().execution_options(**{_WRITES: True}) as connection, connection.begin():
            yield connection

    def close(self) -> None:
        self.engine.dispose()

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def default_url(folder: Path) -> str:
    """The SQLite file of a server that was given no database."""
    return f"sqlite:///{(folder / FILE).absolute()}"


def open_database(url: str, *, pool_size: int = 10) -> Database:
    """Connect to a database; refused with a reason if it cannot be reached. `pool_size` is for PostgreSQL."""
    parsed = _parsed(url)
    engine = _sqlite(parsed) if parsed.get_backend_name() == "sqlite" else _postgresql(parsed, pool_size)
    database = Database(engine)
    try:
        with database.reading() as connection:
            connection.execute(sql.text("SELECT 1"))
    except OperationalError as error:
        database.close()
        reason = str(error.orig).strip().splitlines()[0]
        raise StorageError(
            f"the database {database.name} cannot be opened: {reason}; check that it runs, and its address (--database)"
        ) from None
    return database


def _parsed(url: str) -> URL:
    expected = "expected for example postgresql://user@host/stepscope or sqlite:////srv/runs/stepscope.db"
    try:
        parsed = make_url(url)
        driver = parsed.drivername
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise ConfigError(f"the database address cannot be read; {expected}") from None
    if driver in ("postgresql", "postgres", "postgresql+psycopg"):
        return parsed.set(drivername="postgresql+psycopg")
    if driver == "sqlite" and parsed.database:
        return parsed
    raise ConfigError(
        f"{parsed.render_as_string(hide_password=True)!r} is not a database that Stepscope can use; {expected}"
    )


def _postgresql(url: URL, pool_size: int) -> sql.Engine:
    # A connection that the server or the network dropped is noticed before it is used, not by a failed request.
    return sql.create_engine(
        url,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_pre_ping=True,
        # No prepared statements: after a few uses PostgreSQL would plan them without looking at the values asked for.
        # Neither a just-in-time compiler nor parallel workers: they take longer to start than a page does to be found.
        connect_args={
            "connect_timeout": 10,
            # A database whose machine vanished must not hold every thread until the system gives up, which takes hours.
            "tcp_user_timeout": 20_000,
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "application_name": "stepscope",
            "prepare_threshold": None,
            "options": "-c jit=off -c max_parallel_workers_per_gather=0",
        },
    )


def _sqlite(url: URL) -> sql.Engine:
    file = Path(str(url.database))
    try:
        # Only a new file is opened here: closing one drops the locks of all SQLite connections that this process has to
        # it (POSIX), and then the next process to end deletes the write-ahead log that they are using.
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))  # SQLite gives its other files the same mode
    except FileExistsError:
        pass
    except OSError as error:
        raise StorageError(f"the database {file} cannot be opened: {error.strerror}") from error
    engine = sql.create_engine(url, connect_args={"timeout": BUSY_S, "check_same_thread": False})
    sql.event.listen(engine, "connect", _on_connect)
    sql.event.listen(engine, "begin", _on_begin)
    return engine


def _on_connect(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # Python's own transactions begin too late; `_on_begin` begins them
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")  # a revoked token must not come back with the power
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _on_begin(connection: sql.Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
