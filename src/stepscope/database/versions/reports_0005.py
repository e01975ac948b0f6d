"""Comments on reports, beside those on runs."""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("comments") as comments:
        comments.alter_column("run", existing_type=sql.Text, nullable=True)
        comments.add_column(sql.Column("report", sql.Text))
        comments.create_check_constraint("ck_comments_one_subject", "(run IS NULL) <> (report IS NULL)")
    op.create_index("ix_comments_report_created", "comments", ["report", "created"])
