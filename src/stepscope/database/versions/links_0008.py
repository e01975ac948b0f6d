"""Which run logged and used which artifact, so that lineage does not read every run."""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    text = sql.Text().with_variant(sql.Text(collation="C"), "postgresql")
    op.create_table(
        "linked_runs",
        sql.Column("run", text, nullable=False),
        sql.Column("version", sql.BigInteger, nullable=False),
        sql.PrimaryKeyConstraint("run", name="pk_linked_runs"),
    )
    op.create_table(
        "artifact_links",
        sql.Column("run", text, nullable=False),
        sql.Column("name", text, nullable=False),
        sql.Column("digest", text, nullable=False),
        sql.Column("project", text, nullable=False),
        sql.PrimaryKeyConstraint("run", "name", "digest", name="pk_artifact_links"),
        sql.ForeignKeyConstraint(["run"], ["linked_runs.run"], name="fk_artifact_links_run", ondelete="CASCADE"),
    )
    op.create_index("ix_artifact_links_digest_name", "artifact_links", ["digest", "name"])
    op.create_index("ix_artifact_links_project_name", "artifact_links", ["project", "name"])
