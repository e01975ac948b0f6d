"""Users, tokens, teams, members of projects, the audit log, comments."""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "users",
        sql.Column("id", sql.Text, nullable=False),
        sql.Column("name", sql.Text, nullable=False),
        sql.Column("email", sql.Text),
        sql.Column("identity", sql.Text),
        sql.Column("admin", sql.Boolean, nullable=False),
        sql.Column("created", sql.Double, nullable=False),
        sql.Column("disabled", sql.Double),
        sql.PrimaryKeyConstraint("id", name="pk_users"),
        sql.UniqueConstraint("name", name="uq_users_name"),
        sql.UniqueConstraint("identity", name="uq_users_identity"),
    )
    op.create_table(
        "tokens",
        sql.Column("id", sql.Text, nullable=False),
        sql.Column("kind", sql.Text, nullable=False),
        sql.Column("user_id", sql.Text, nullable=False),
        sql.Column("name", sql.Text, nullable=False),
        sql.Column("hash", sql.Text, nullable=False),
        sql.Column("scopes", sql.Text, nullable=False),
        sql.Column("project", sql.Text),
        sql.Column("run", sql.Text),
        sql.Column("created", sql.Double, nullable=False),
        sql.Column("expires", sql.Double),
        sql.Column("used", sql.Double),
        sql.Column("revoked", sql.Double),
        sql.PrimaryKeyConstraint("id", name="pk_tokens"),
        sql.UniqueConstraint("hash", name="uq_tokens_hash"),
        sql.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_tokens_user_id", ondelete="CASCADE"),
    )
    op.create_index("ix_tokens_user_id", "tokens", ["user_id"])
    _groups()
    _audit()
    _comments()


def _groups() -> None:
    op.create_table(
        "teams",
        sql.Column("name", sql.Text, nullable=False),
        sql.Column("created", sql.Double, nullable=False),
        sql.PrimaryKeyConstraint("name", name="pk_teams"),
    )
    op.create_table(
        "team_members",
        sql.Column("team", sql.Text, nullable=False),
        sql.Column("user_id", sql.Text, nullable=False),
        sql.PrimaryKeyConstraint("team", "user_id", name="pk_team_members"),
        sql.ForeignKeyConstraint(["team"], ["teams.name"], name="fk_team_members_team", ondelete="CASCADE"),
        sql.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_team_members_user_id", ondelete="CASCADE"),
    )
    op.create_table(
        "members",
        sql.Column("id", sql.Text, nullable=False),
        sql.Column("project", sql.Text, nullable=False),
        sql.Column("user_id", sql.Text),
        sql.Column("team", sql.Text),
        sql.Column("role", sql.Text, nullable=False),
        sql.CheckConstraint("(user_id IS NULL) <> (team IS NULL)", name="ck_members_one_holder"),
        sql.PrimaryKeyConstraint("id", name="pk_members"),
        sql.UniqueConstraint("project", "user_id", name="uq_members_project_user_id"),
        sql.UniqueConstraint("project", "team", name="uq_members_project_team"),
        sql.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_members_user_id", ondelete="CASCADE"),
        sql.ForeignKeyConstraint(["team"], ["teams.name"], name="fk_members_team", ondelete="CASCADE"),
    )


def _audit() -> None:
    op.create_table(
        "audit",
        sql.Column("id", sql.BigInteger().with_variant(sql.Integer, "sqlite"), autoincrement=True, nullable=False),
        sql.Column("at", sql.Double, nullable=False),
        sql.Column("user_name", sql.Text, nullable=False),
        sql.Column("action", sql.Text, nullable=False),
        sql.Column("subject", sql.Text, nullable=False),
        sql.Column("detail", sql.Text, nullable=False),
        sql.Column("address", sql.Text, nullable=False),
        sql.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_index("ix_audit_at", "audit", ["at"])


def _comments() -> None:
    op.create_table(
        "comments",
        sql.Column("id", sql.Text, nullable=False),
        sql.Column("project", sql.Text, nullable=False),
        sql.Column("run", sql.Text, nullable=False),
        sql.Column("chart", sql.Text),
        sql.Column("step", sql.BigInteger),
        sql.Column("user_id", sql.Text, nullable=False),
        sql.Column("text", sql.Text, nullable=False),
        sql.Column("created", sql.Double, nullable=False),
        sql.Column("changed", sql.Double),
        sql.PrimaryKeyConstraint("id", name="pk_comments"),
        sql.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_comments_user_id", ondelete="CASCADE"),
    )
    op.create_index("ix_comments_run_created", "comments", ["run", "created"])
    op.create_table(
        "mentions",
        sql.Column("comment", sql.Text, nullable=False),
        sql.Column("user_id", sql.Text, nullable=False),
        sql.Column("seen", sql.Double),
        sql.PrimaryKeyConstraint("comment", "user_id", name="pk_mentions"),
        sql.ForeignKeyConstraint(["comment"], ["comments.id"], name="fk_mentions_comment", ondelete="CASCADE"),
        sql.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_mentions_user_id", ondelete="CASCADE"),
    )
    op.create_index("ix_mentions_user_id", "mentions", ["user_id"])
