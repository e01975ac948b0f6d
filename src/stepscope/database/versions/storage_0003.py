"""Keeping house: retention and quotas, what each run takes, and the queue of jobs."""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "policies",
        sql.Column("kind", sql.Text, nullable=False),
        sql.Column("name", sql.Text, nullable=False),
        sql.Column("points_days", sql.Double),
        sql.Column("media_newest", sql.Integer),
        sql.Column("artifact_days", sql.Double),
        sql.Column("trash_days", sql.Double),
        sql.Column("quota_bytes", sql.BigInteger),
        sql.Column("changed", sql.Double, nullable=False),
        sql.PrimaryKeyConstraint("kind", "name", name="pk_policies"),
    )
    op.create_table(
        "run_storage",
        sql.Column("run", sql.Text, nullable=False),
        sql.Column("project", sql.Text, nullable=False),
        sql.Column("user_name", sql.Text, nullable=False),
        sql.Column("name", sql.Text, nullable=False),
        *(sql.Column(name, sql.BigInteger, nullable=False) for name in ("points", "media", "artifacts", "other")),
        sql.Column("on_disk", sql.BigInteger, nullable=False),
        sql.Column("incoming", sql.BigInteger, nullable=False),
        sql.Column("trashed", sql.Boolean, nullable=False),
        sql.Column("stamp", sql.Text, nullable=False),
        sql.Column("due", sql.Double),
        sql.PrimaryKeyConstraint("run", name="pk_run_storage"),
    )
    op.create_index("ix_run_storage_project", "run_storage", ["project"])
    op.create_index("ix_run_storage_user_name", "run_storage", ["user_name"])
    op.create_table(
        "jobs",
        sql.Column("id", sql.BigInteger().with_variant(sql.Integer, "sqlite"), nullable=False, autoincrement=True),
        sql.Column("kind", sql.Text, nullable=False),
        sql.Column("subject", sql.Text, nullable=False),
        sql.Column("due", sql.Double, nullable=False),
        sql.Column("worker", sql.Text),
        sql.Column("leased", sql.Double),
        sql.Column("tries", sql.Integer, nullable=False),
        sql.Column("error", sql.Text, nullable=False),
        sql.PrimaryKeyConstraint("id", name="pk_jobs"),
        sql.UniqueConstraint("kind", "subject", name="uq_jobs_kind_subject"),
    )
    op.create_index("ix_jobs_due", "jobs", ["due"])
