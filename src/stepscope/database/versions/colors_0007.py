"""The color of each run, the same for everybody and in every process of a server."""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    text = sql.Text().with_variant(sql.Text(collation="C"), "postgresql")
    op.create_table(
        "run_colors",
        sql.Column("run", text, nullable=False),
        sql.Column("project", text, nullable=False),
        sql.Column("hue", sql.SmallInteger, nullable=False),
        sql.PrimaryKeyConstraint("run", name="pk_run_colors"),
    )
    op.create_index("ix_run_colors_project_run", "run_colors", ["project", "run"])
