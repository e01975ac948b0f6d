"""The tables as they are now. `versions/` says how they came to be; a test holds the two together.

Times are seconds since 1970, ids are random text, and secrets are kept only as SHA-256.
"""

from __future__ import annotations

import sqlalchemy as sql
from sqlalchemy import Column, ForeignKey
from sqlalchemy.dialects.postgresql import JSONB

metadata = sql.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _reference(name: str, target: str, *, nullable: bool = False, primary_key: bool = False) -> Column[str]:
    """A column that goes with the row it names."""
    return Column(
        name,
        sql.Text,
        ForeignKey(target, ondelete="CASCADE"),
        nullable=nullable,
        primary_key=primary_key,
    )


users = sql.Table(
    "users",
    metadata,
    Column("id", sql.Text, primary_key=True),
    Column("name", sql.Text, nullable=False, unique=True),
    Column("email", sql.Text),
    Column("identity", sql.Text, unique=True),  # issuer and subject of an OIDC login
    Column("admin", sql.Boolean, nullable=False),
    Column("created", sql.Double, nullable=False),
    Column("disabled", sql.Double),
)

tokens = sql.Table(
    "tokens",
    metadata,
    Column("id", sql.Text, primary_key=True),
    Column("kind", sql.Text, nullable=False),  # personal, session (a browser), invite (used once), link (view only)
    _reference("user_id", "users.id"),
    Column("name", sql.Text, nullable=False),
    Column("hash", sql.Text, nullable=False, unique=True),
    Column("scopes", sql.Text, nullable=False),  # words, e.g. "read write"
    Column("project", sql.Text),  # what a view-only link shows
    Column("run", sql.Text),
    Column("created", sql.Double, nullable=False),
    Column("expires", sql.Double),
    Column("used", sql.Double),
    Column("revoked", sql.Double),
    sql.Index(None, "user_id"),
)

teams = sql.Table(
    "teams",
    metadata,
    Column("name", sql.Text, primary_key=True),
    Column("created", sql.Double, nullable=False),
)

team_members = sql.Table(
    "team_members",
    metadata,
    _reference("team", "teams.name", primary_key=True),
    _reference("user_id", "users.id", primary_key=True),
)

members = sql.Table(
    "members",
    metadata,
    Column("id", sql.Text, primary_key=True),
    Column("project", sql.Text, nullable=False),  # "*" is every project
    _reference("user_id", "users.id", nullable=True),
    _reference("team", "teams.name", nullable=True),
    Column("role", sql.Text, nullable=False),  # viewer, writer, admin
    sql.CheckConstraint("(user_id IS NULL) <> (team IS NULL)", name="one_holder"),
    sql.UniqueConstraint("project", "user_id"),
    sql.UniqueConstraint("project", "team"),
)

audit = sql.Table(
    "audit",
    metadata,
    Column("id", sql.BigInteger().with_variant(sql.Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("at", sql.Double, nullable=False),
    Column("user_name", sql.Text, nullable=False),  # a name, not a reference: it outlives the user
    Column("action", sql.Text, nullable=False),
    Column("subject", sql.Text, nullable=False),
    Column("detail", sql.Text, nullable=False),
    Column("address", sql.Text, nullable=False),
    sql.Index(None, "at"),
)

comments = sql.Table(
    "comments",
    metadata,
    Column("id", sql.Text, primary_key=True),
    Column("project", sql.Text, nullable=False),  # "*" for a report, which belongs to every project
    Column("run", sql.Text),
    Column("report", sql.Text),
    Column("chart", sql.Text),
    Column("step", sql.BigInteger),
    _reference("user_id", "users.id"),
    Column("text", sql.Text, nullable=False),
    Column("created", sql.Double, nullable=False),
    Column("changed", sql.Double),
    sql.CheckConstraint("(run IS NULL) <> (report IS NULL)", name="one_subject"),
    sql.Index(None, "run", "created"),
    sql.Index(None, "report", "created"),
)

mentions = sql.Table(
    "mentions",
    metadata,
    _reference("comment", "comments.id", primary_key=True),
    _reference("user_id", "users.id", primary_key=True),
    Column("seen", sql.Double),
    sql.Index(None, "user_id"),
)

_BYTEWISE = sql.Text().with_variant(sql.Text(collation="C"), "postgresql")
"""Text in the order of its code points, as Python has it, whatever the database's language is."""

runs = sql.Table(
    "runs",
    metadata,
    Column("key", sql.BigInteger().with_variant(sql.Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("store", _BYTEWISE, nullable=False),
    Column("folder", _BYTEWISE, nullable=False),
    Column("stamp", _BYTEWISE, nullable=False),
    Column("id", _BYTEWISE, nullable=False),
    Column("name", _BYTEWISE, nullable=False),
    Column("name_lower", _BYTEWISE),  # NULL where it is the same, as in all columns of this kind
    Column("project", _BYTEWISE, nullable=False),
    Column("project_lower", _BYTEWISE),
    Column("status", _BYTEWISE, nullable=False),
    Column("created", sql.Double, nullable=False),
    Column("ended", sql.Double),
    Column("duration", sql.Double, nullable=False),
    Column("findings", sql.BigInteger, nullable=False),
    Column("dropped", sql.BigInteger, nullable=False),
    Column("archived", sql.Boolean, nullable=False),
    Column("words", _BYTEWISE, nullable=False),  # name, project and tags in lower case
    Column("config", sql.JSON().with_variant(JSONB, "postgresql"), nullable=False),
    Column("head", sql.LargeBinary, nullable=False),
    Column("names", sql.LargeBinary, nullable=False),
    Column("stats", sql.LargeBinary, nullable=False),
    sql.UniqueConstraint("store", "folder"),
    sql.Index(None, "id"),
    sql.Index(None, "created", "id", postgresql_include=["key", "archived", "store", "project", "status"]),
    sql.Index(None, "project", "created"),
    sql.Index(None, "status", "created"),
)
"""The catalogue: what the index knows of each run. `run_values` and `run_metrics` are what queries ask about."""

run_values = sql.Table(
    "run_values",
    metadata,
    Column("run", sql.BigInteger, ForeignKey("runs.key", ondelete="CASCADE"), primary_key=True),
    Column("field", _BYTEWISE, primary_key=True),  # "config:lr", "summary:acc", "run:tags"
    Column("place", sql.Integer, primary_key=True),  # 0: the value itself; from 1: what is in a list
    Column("kind", _BYTEWISE, nullable=False),  # n number, x NaN, b bool, t text, l list, o anything else
    Column("number", sql.Double),
    Column("text", _BYTEWISE),
    Column("lower", _BYTEWISE),
    Column("natural", _BYTEWISE),  # text in the order of people: run-2 before run-10
    sql.Index(None, "field", "number", "run"),
    sql.Index(None, "field", "natural", "run"),
    postgresql_partition_by="HASH (field)",
)
"""Every question names a field, so PostgreSQL looks into one of the partitions (`run_values_0` ...)."""

run_metrics = sql.Table(
    "run_metrics",
    metadata,
    Column("run", sql.BigInteger, ForeignKey("runs.key", ondelete="CASCADE"), primary_key=True),
    Column("name", _BYTEWISE, primary_key=True),
    *(Column(name, sql.Double) for name in ("last", "first", "min", "max", "mean")),
    *(Column(name, sql.BigInteger) for name in ("count", "nan", "inf", "last_step", "min_step", "max_step")),
    sql.Index(None, "name", "last", "run"),
    sql.Index(None, "name", "min", "run"),
    sql.Index(None, "name", "max", "run"),
    postgresql_partition_by="HASH (name)",
)

policies = sql.Table(
    "policies",
    metadata,
    Column("kind", sql.Text, primary_key=True),  # project or user
    Column("name", sql.Text, primary_key=True),  # "*" is for all that have none of their own
    Column("points_days", sql.Double),
    Column("media_newest", sql.Integer),
    Column("artifact_days", sql.Double),
    Column("trash_days", sql.Double),
    Column("quota_bytes", sql.BigInteger),
    Column("changed", sql.Double, nullable=False),
)
"""How long a project keeps what, and how much a project or a user may fill. NULL in a row: no limit."""

run_storage = sql.Table(
    "run_storage",
    metadata,
    Column("run", sql.Text, primary_key=True),
    Column("project", sql.Text, nullable=False),
    Column("user_name", sql.Text, nullable=False),  # who sent it first; "" where nobody knows
    Column("name", sql.Text, nullable=False),
    *(Column(name, sql.BigInteger, nullable=False) for name in ("points", "media", "artifacts", "other")),
    Column("on_disk", sql.BigInteger, nullable=False),  # the rest is in the object store
    Column("incoming", sql.BigInteger, nullable=False),  # arrived since it was last measured
    Column("trashed", sql.Boolean, nullable=False),
    Column("stamp", sql.Text, nullable=False),  # of the folder when it was last seen to
    Column("due", sql.Double),  # when its project's policy next has something to do
    sql.Index(None, "project"),
    sql.Index(None, "user_name"),
)
"""What each run takes, by kind."""

jobs = sql.Table(
    "jobs",
    metadata,
    Column("id", sql.BigInteger().with_variant(sql.Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("kind", sql.Text, nullable=False),
    Column("subject", sql.Text, nullable=False),
    Column("due", sql.Double, nullable=False),
    Column("worker", sql.Text),
    Column("leased", sql.Double),  # until then it is the worker's
    Column("tries", sql.Integer, nullable=False),
    Column("error", sql.Text, nullable=False),
    sql.UniqueConstraint("kind", "subject"),
    sql.Index(None, "due"),
)
"""Work for whichever server process comes first. A job that is done is removed."""

run_colors = sql.Table(
    "run_colors",
    metadata,
    Column("run", _BYTEWISE, primary_key=True),
    Column("project", _BYTEWISE, nullable=False),
    Column("hue", sql.SmallInteger, nullable=False),
    sql.Index(None, "project", "run"),
)
"""Which of the page's hues a run has. It stays when the catalogue is made again, and when other runs are deleted."""

edited_runs = sql.Table(
    "edited_runs",
    metadata,
    Column("number", sql.BigInteger, primary_key=True, autoincrement=False),
    Column("run", _BYTEWISE, nullable=False),
)
"""The last runs that were changed through the app, in order, for the other processes of a server."""

linked_runs = sql.Table(
    "linked_runs",
    metadata,
    Column("run", _BYTEWISE, primary_key=True),
    Column("stamp", _BYTEWISE, nullable=False),
)
"""Runs whose artifacts are in `artifact_links`, with the catalogue's stamp of the run then; "" while it is running."""

artifact_links = sql.Table(
    "artifact_links",
    metadata,
    Column("run", _BYTEWISE, ForeignKey("linked_runs.run", ondelete="CASCADE"), primary_key=True),
    Column("name", _BYTEWISE, primary_key=True),
    Column("digest", _BYTEWISE, primary_key=True),
    Column("project", _BYTEWISE, nullable=False),
    sql.Index(None, "digest", "name"),
    sql.Index(None, "project", "name"),
)
"""What a run logged or used. The run itself says which of the two, and everything else."""

server_facts = sql.Table(
    "server_facts",
    metadata,
    Column("name", sql.Text, primary_key=True),
    Column("value", sql.Text, nullable=False),
)
"""What commands on the server's machine need to know: "address", where browsers find it."""
