"""Bring a database up to date: every server does so when it starts, one after the other, in one transaction.

A change of the tables is one file in `versions/`, named for what it adds. It continues from the newest one
(`down_revision`); a test compares the result with `tables.py`.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sql
from alembic.config import Config
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError

from stepscope.database.engine import Database
from stepscope.errors import Conflict

_FOLDER = Path(__file__).parent
_LOCK = 0x57E95C09E
"""The number of PostgreSQL's advisory lock that only one server at a time holds while it changes tables."""


def migrate(database: Database) -> str:
    """Apply what is missing; returns the revision the database has now."""
    scripts = _scripts()
    with database.writing() as connection:  # in SQLite this transaction is the lock
        if database.is_postgresql:
            connection.execute(sql.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        context = MigrationContext.configure(
            connection, opts={"fn": lambda revision, _: scripts._upgrade_revs("head", revision)}
        )
        try:
            with Operations.context(context):
                context.run_migrations()
        except CommandError:
            held = context.get_current_revision()
            raise Conflict(
                f"the database {database.name} has revision {held!r}, which this version of Stepscope does not know; "
                "it was made by a newer one: update Stepscope, or use another database"
            ) from None
    return newest()


def newest() -> str:
    """The revision that this version of Stepscope needs."""
    head = _scripts().get_current_head()
    assert head is not None
    return head


def _scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.set_main_option("version_locations", str(_FOLDER / "versions").replace("%", "%%"))
    config.set_main_option("path_separator", "newline")
    return ScriptDirectory.from_config(config)
