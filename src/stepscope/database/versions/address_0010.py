"""What a server says of itself to the commands on its machine: the address it was last started under."""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "server_facts",
        sql.Column("name", sql.Text, nullable=False),
        sql.Column("value", sql.Text, nullable=False),
        sql.PrimaryKeyConstraint("name", name="pk_server_facts"),
    )
