"""Search in the catalogue: a column with the words of a run, and indexes of trigrams where PostgreSQL has them.

The catalogue is emptied: servers fill it again from the run folders, now also with the goals of metrics.
"""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_BYTEWISE = sql.Text().with_variant(sql.Text(collation="C"), "postgresql")


def upgrade() -> None:
    for table in ("run_values", "run_metrics", "runs"):
        op.execute(sql.text(f"DELETE FROM {table}"))
    with op.batch_alter_table("runs") as runs:
        runs.add_column(sql.Column("words", _BYTEWISE, nullable=False))
    if op.get_bind().dialect.name == "postgresql" and _has_trigrams():
        for name, column in (("name", "(coalesce(name_lower, name))"), ("words", "words")):
            op.execute(sql.text(f"CREATE INDEX ix_runs_{name}_trigrams ON runs USING gin ({column} gin_trgm_ops)"))


def _has_trigrams() -> bool:
    """pg_trgm comes with PostgreSQL, in a package of its own on some systems; without it, searches read every name."""
    try:
        with op.get_bind().begin_nested():
            op.execute(sql.text("CREATE EXTENSION IF NOT EXISTS pg_trgm"))
    except sql.exc.DBAPIError:
        return False
    return True
