"""PostgreSQL: the values and metrics of runs in partitions, by field and by metric; a page far down by an index alone.

SQLite has no partitions.

A catalogue of a million runs has tens of millions of these rows, and every question names its field: so it reads the
indexes of one partition, and vacuum and analyze go through one at a time.
"""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

PARTITIONS = 16
_TABLES = {
    "run_values": ("field", "run, field, place", ("number", "natural")),
    "run_metrics": ("name", "run, name", ("last", "min", "max")),
}


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    op.execute(sql.text("DROP INDEX ix_runs_created_id"))
    op.execute(
        sql.text(
            "CREATE INDEX ix_runs_created_id ON runs (created, id) INCLUDE (key, archived, store, project, status)"
        )
    )
    for table, (lead, identity, sorted_by) in _TABLES.items():
        for statement in _statements(table, lead, identity, sorted_by):
            op.execute(sql.text(statement))


def _statements(table: str, lead: str, identity: str, sorted_by: tuple[str, ...]) -> list[str]:
    old = f"{table}_old"
    indexes = [f"ix_{table}_{lead}_{column}_run" for column in sorted_by]
    return [
        f"ALTER TABLE {table} RENAME TO {old}",
        *(f"DROP INDEX {index}" for index in indexes),
        f"ALTER TABLE {old} DROP CONSTRAINT fk_{table}_run",
        f"ALTER TABLE {old} DROP CONSTRAINT pk_{table}",
        f"CREATE TABLE {table} (LIKE {old}) PARTITION BY HASH ({lead})",
        *(
            f"CREATE TABLE {table}_{at} PARTITION OF {table} FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {at})"
            for at in range(PARTITIONS)
        ),
        f"INSERT INTO {table} SELECT * FROM {old}",
        f"DROP TABLE {old}",
        f"ALTER TABLE {table} ADD CONSTRAINT pk_{table} PRIMARY KEY ({identity})",
        f"ALTER TABLE {table} ADD CONSTRAINT fk_{table}_run FOREIGN KEY (run) REFERENCES runs (key) ON DELETE CASCADE",
        *(
            f'CREATE INDEX {index} ON {table} ({lead}, "{column}", run)'
            for index, column in zip(indexes, sorted_by, strict=True)
        ),
    ]
