"""One engine over SQLite and PostgreSQL, and tables that every start brings up to date."""

from __future__ import annotations

import re
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import sqlalchemy as sql
from alembic.autogenerate import compare_metadata
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from tests.postgres import Postgres

from stepscope.database.engine import Database, default_url, open_database
from stepscope.database.migrate import migrate, newest
from stepscope.database.tables import metadata, run_values, runs, users
from stepscope.database.versions import (
    partitions_0006,
    people_0001,
    reports_0005,
    runs_0002,
    search_0004,
    storage_0003,
)
from stepscope.errors import ConfigError, Conflict, StorageError
from stepscope.importers.detect import sources_in


def add_user(database: Database, name: str) -> None:
    with database.writing() as connection:
        connection.execute(users.insert().values(id=name, name=name, admin=False, created=1.0))


def names(database: Database) -> list[str]:
    with database.reading() as connection:
        return list(connection.scalars(sql.select(users.c.name).order_by(users.c.name)))


def test_the_migrations_make_the_tables_that_the_code_uses(database_url: str) -> None:
    with open_database(database_url) as database:
        assert migrate(database) == newest()
        assert migrate(database) == newest()  # nothing left to do
        # tables.py names neither indexes of trigrams, which only some PostgreSQL have, nor the partitions of a table.
        unnamed = re.compile(r".*_trigrams|run_(values|metrics)_\d+.*")
        known = {"include_object": lambda thing, name, kind, *_: not unnamed.fullmatch(str(name))}
        with database.reading() as connection:
            assert compare_metadata(MigrationContext.configure(connection, opts=known), metadata) == []


def test_servers_that_start_at_once_migrate_one_after_the_other(database_url: str) -> None:
    faults: list[BaseException] = []
    started = threading.Barrier(4, timeout=60)

    def start() -> None:
        try:
            with open_database(database_url) as database:
                started.wait()
                migrate(database)
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert faults == []
    with open_database(database_url) as database:
        assert names(database) == []


def test_a_failed_transaction_leaves_nothing(database_url: str) -> None:
    with open_database(database_url) as database:
        migrate(database)
        add_user(database, "ada")

        def add_two() -> None:
            with database.writing() as connection:
                connection.execute(users.insert().values(id="bo", name="bo", admin=False, created=1.0))
                connection.execute(users.insert().values(id="x", name="ada", admin=False, created=1.0))

        with pytest.raises(sql.exc.IntegrityError):
            add_two()
        assert names(database) == ["ada"]


def test_writers_wait_for_each_other(database_url: str) -> None:
    with open_database(database_url) as database:
        migrate(database)

        def rename_ten_times() -> None:
            for _ in range(10):
                with database.writing() as connection:
                    find = sql.select(users.c.created).where(users.c.id == "ada").with_for_update()
                    count = connection.execute(find).scalar_one()
                    connection.execute(users.update().where(users.c.id == "ada").values(created=count + 1))

        add_user(database, "ada")
        threads = [threading.Thread(target=rename_ten_times) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        with database.reading() as connection:
            assert connection.scalar(sql.select(users.c.created)) == 31.0


def test_a_database_of_a_newer_version_is_refused(database_url: str) -> None:
    with open_database(database_url) as database:
        migrate(database)
        with database.writing() as connection:
            connection.execute(sql.text("UPDATE alembic_version SET version_num = '9999'"))
        with pytest.raises(Conflict, match=r"revision '9999'.*update Stepscope"):
            migrate(database)


def test_what_goes_with_a_user_goes_when_the_user_does(database_url: str) -> None:
    from stepscope.database.tables import tokens

    with open_database(database_url) as database:
        migrate(database)
        add_user(database, "ada")
        with database.writing() as connection:
            values = {"id": "t", "kind": "personal", "user_id": "ada", "name": "", "hash": "h", "scopes": "read"}
            connection.execute(tokens.insert().values(**values, created=1.0))
            connection.execute(users.delete())
            assert connection.scalar(sql.select(sql.func.count()).select_from(tokens)) == 0


def test_the_default_is_a_private_file_in_the_folder(tmp_path: Path) -> None:
    url = default_url(tmp_path)
    with open_database(url) as database:
        migrate(database)
    file = tmp_path / ".stepscope.db"
    assert url == f"sqlite:///{file}"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("url", ["mysql://db/x", "sqlite://", "runs", "http://db", "postgresql+asyncpg://db/x"])
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="expected for example postgresql://"):
        open_database(url)


def test_a_database_that_does_not_answer_is_named_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(StorageError) as refused:
        open_database(f"postgresql://ada:s3cret-word@/runs?host={tmp_path}")
    assert "cannot be opened" in str(refused.value)
    assert "s3cret-word" not in str(refused.value)
    with pytest.raises(StorageError, match="cannot be opened"):
        open_database(f"sqlite:///{tmp_path}/missing/file.db")


def test_a_catalogue_keeps_its_rows_when_it_is_partitioned(postgres: Postgres) -> None:
    with open_database(postgres.new_database()) as database, database.writing() as connection:
        with Operations.context(MigrationContext.configure(connection)):
            for version in (people_0001, runs_0002, storage_0003, search_0004, reports_0005):
                version.upgrade()
        facts = dict.fromkeys(("store", "folder", "stamp", "id", "name", "project", "status", "words"), "x")
        blobs = dict.fromkeys(("head", "names", "stats"), b"")
        numbers = {"created": 1.0, "duration": 1.0, "findings": 0, "dropped": 0, "archived": False}
        made = runs.insert().values(**facts, **blobs, **numbers, config={}).returning(runs.c.key)
        key = connection.execute(made).scalar_one()
        rows = [{"run": key, "field": f"config:{at}", "place": 0, "kind": "n", "number": at} for at in range(200)]
        connection.execute(run_values.insert(), rows)
        with Operations.context(MigrationContext.configure(connection)):
            partitions_0006.upgrade()
        count = sql.select(sql.func.count())
        parts = [sql.text(f"SELECT count(*) FROM run_values_{at}") for at in range(partitions_0006.PARTITIONS)]
        held = [connection.execute(part).scalar_one() for part in parts]
        assert (sum(held), connection.scalar(count.select_from(run_values))) == (200, 200)
        assert min(held) > 0
        plan = connection.execute(sql.text("EXPLAIN SELECT 1 FROM run_values WHERE field = 'config:7'")).scalars()
        assert len({found for line in plan for found in re.findall(r"run_values_\d+(?= )", line)}) == 1
        connection.execute(runs.delete())
        assert connection.scalar(count.select_from(run_values)) == 0


def test_another_process_that_ends_leaves_the_log_to_those_who_go_on(tmp_path: Path) -> None:
    """A server opens its file more than once; `stepscope server tokens make` beside it comes and goes."""
    code = """if True:
        import sys
        from tests.database.test_database import add_user, names
        from stepscope.database.engine import open_database
        with open_database(sys.argv[1]) as database:
            add_user(database, sys.argv[2])
            print(*names(database))
    """

    def beside(name: str) -> list[str]:
        words = [sys.executable, "-c", code, default_url(tmp_path), name]
        return subprocess.run(words, capture_output=True, text=True, timeout=120, check=True).stdout.split()

    with open_database(default_url(tmp_path)) as server:
        migrate(server)
        assert list(sources_in(tmp_path)) == []  # what a server looks for when it starts
        with open_database(default_url(tmp_path)):
            assert beside("ada") == ["ada"]
            assert (tmp_path / ".stepscope.db-wal").exists()
            add_user(server, "bo")
            assert beside("cy") == ["ada", "bo", "cy"]
            assert names(server) == ["ada", "bo", "cy"]
