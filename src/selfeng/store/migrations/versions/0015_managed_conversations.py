"""Conversations that a person pins, deletes and has seen."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column(
        "conversations",
        sa.Column("pinned", sa.Boolean, nullable=False, server_default=sa.false()),
    )
    op.add_column("conversations", sa.Column("deleted_at", sa.DateTime(timezone=True)))
    op.add_column(
        "conversations", sa.Column("seen_seq", sa.Integer, nullable=False, server_default="0")
    )
    op.execute("UPDATE conversations SET seen_seq = last_seq")
