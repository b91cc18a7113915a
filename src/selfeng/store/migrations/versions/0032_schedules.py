"""Schedules: calls of tools at set times.

Revision ID: 0032
"""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    op.create_table(
        "schedules",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("files", sa.Text, nullable=False),
        sa.Column("conversation_id", sa.String(32), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("run", sa.String(32), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True)),
        sa.Column("begun_at", sa.DateTime(timezone=True)),
        sa.Column("tries", sa.Integer, server_default="0", nullable=False),
        sa.Column("given", sa.Text),
        sa.Column("delivered_at", sa.DateTime(timezone=True)),
        sa.Column("last", sa.Text),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("owner", "name"),
    )
    for column in ("conversation_id", "next_at", "run"):
        op.create_index(f"ix_schedules_{column}", "schedules", [column])
