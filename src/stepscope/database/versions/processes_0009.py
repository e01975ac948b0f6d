"""Processes of a server agree: runs whose links are known have the stamp of their folder; edited runs are listed."""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    text = sql.Text().with_variant(sql.Text(collation="C"), "postgresql")
    op.execute("DELETE FROM artifact_links")  # read again from the runs
    op.execute("DELETE FROM linked_runs")
    op.add_column("linked_runs", sql.Column("stamp", text, nullable=False, server_default=""))
    with op.batch_alter_table("linked_runs") as table:
        table.drop_column("version")
        table.alter_column("stamp", server_default=None)
    op.create_table(
        "edited_runs",
        sql.Column("number", sql.BigInteger, autoincrement=False, nullable=False),
        sql.Column("run", text, nullable=False),
        sql.PrimaryKeyConstraint("number", name="pk_edited_runs"),
    )
