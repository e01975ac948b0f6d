"""The catalogue of runs: what they are, their config and tags, the numbers of their metrics."""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_BYTEWISE = sql.Text().with_variant(sql.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "runs",
        sql.Column("key", sql.BigInteger().with_variant(sql.Integer, "sqlite"), nullable=False, autoincrement=True),
        sql.Column("store", _BYTEWISE, nullable=False),
        sql.Column("folder", _BYTEWISE, nullable=False),
        sql.Column("stamp", _BYTEWISE, nullable=False),
        sql.Column("id", _BYTEWISE, nullable=False),
        sql.Column("name", _BYTEWISE, nullable=False),
        sql.Column("name_lower", _BYTEWISE),
        sql.Column("project", _BYTEWISE, nullable=False),
        sql.Column("project_lower", _BYTEWISE),
        sql.Column("status", _BYTEWISE, nullable=False),
        sql.Column("created", sql.Double, nullable=False),
        sql.Column("ended", sql.Double),
        sql.Column("duration", sql.Double, nullable=False),
        sql.Column("findings", sql.BigInteger, nullable=False),
        sql.Column("dropped", sql.BigInteger, nullable=False),
        sql.Column("archived", sql.Boolean, nullable=False),
        sql.Column("config", sql.JSON().with_variant(JSONB, "postgresql"), nullable=False),
        sql.Column("head", sql.LargeBinary, nullable=False),
        sql.Column("names", sql.LargeBinary, nullable=False),
        sql.Column("stats", sql.LargeBinary, nullable=False),
        sql.PrimaryKeyConstraint("key", name="pk_runs"),
        sql.UniqueConstraint("store", "folder", name="uq_runs_store_folder"),
    )
    for columns in (("id",), ("created", "id"), ("project", "created"), ("status", "created")):
        op.create_index(f"ix_runs_{'_'.join(columns)}", "runs", list(columns))
    op.create_table(
        "run_values",
        sql.Column("run", sql.BigInteger, nullable=False),
        sql.Column("field", _BYTEWISE, nullable=False),
        sql.Column("place", sql.Integer, nullable=False),
        sql.Column("kind", _BYTEWISE, nullable=False),
        sql.Column("number", sql.Double),
        sql.Column("text", _BYTEWISE),
        sql.Column("lower", _BYTEWISE),
        sql.Column("natural", _BYTEWISE),
        sql.PrimaryKeyConstraint("run", "field", "place", name="pk_run_values"),
        sql.ForeignKeyConstraint(["run"], ["runs.key"], name="fk_run_values_run", ondelete="CASCADE"),
    )
    for column in ("number", "natural"):
        op.create_index(f"ix_run_values_field_{column}_run", "run_values", ["field", column, "run"])
    op.create_table(
        "run_metrics",
        sql.Column("run", sql.BigInteger, nullable=False),
        sql.Column("name", _BYTEWISE, nullable=False),
        *(sql.Column(name, sql.Double) for name in ("last", "first", "min", "max", "mean")),
        *(sql.Column(name, sql.BigInteger) for name in ("count", "nan", "inf", "last_step", "min_step", "max_step")),
        sql.PrimaryKeyConstraint("run", "name", name="pk_run_metrics"),
        sql.ForeignKeyConstraint(["run"], ["runs.key"], name="fk_run_metrics_run", ondelete="CASCADE"),
    )
    for stat in ("last", "min", "max"):
        op.create_index(f"ix_run_metrics_name_{stat}_run", "run_metrics", ["name", stat, "run"])
