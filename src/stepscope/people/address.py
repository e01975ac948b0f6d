"""The address a server was last started under, for links made on the command line."""

from __future__ import annotations

import sqlalchemy as sql
from sqlalchemy.dialects import postgresql, sqlite

from stepscope.database.engine import Database
from stepscope.database.tables import server_facts as table

_ADDRESS = "address"


def note_address(database: Database, url: str) -> None:
    insert = postgresql.insert if database.is_postgresql else sqlite.insert
    row = insert(table).values(name=_ADDRESS, value=url.rstrip("/"))
    with database.writing() as connection:
        connection.execute(row.on_conflict_do_update(index_elements=["name"], set_={"value": row.excluded.value}))


def address_of(database: Database) -> str | None:
    """None for a server that has never been started."""
    with database.reading() as connection:
        return connection.scalar(sql.select(table.c.value).where(table.c.name == _ADDRESS))
