"""Conversations, turns, events, tools and their vectors."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("owner", sa.String(64), nullable=False, index=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seq", sa.Integer, nullable=False, server_default="0"),
    )
    op.create_table(
        "turns",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column(
            "conversation_id",
            sa.String(32),
            sa.ForeignKey("conversations.id"),
            nullable=False,
            index=True,
        ),
        sa.Column("request", sa.Text, nullable=False),
        sa.Column("answer", sa.Text),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "events",
        sa.Column(
            "conversation_id", sa.String(32), sa.ForeignKey("conversations.id"), primary_key=True
        ),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("turn_id", sa.String(32), nullable=False, index=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("event", sa.Text, nullable=False),
    )
    op.create_table(
        "tools",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("signature", sa.Text, nullable=False),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("tests", sa.Text, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("example_requests", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("uses", sa.Integer, nullable=False, server_default="0"),
    )
    op.create_table(
        "tool_vectors",
        sa.Column(
            "name", sa.String(64), sa.ForeignKey("tools.name", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("embedder", sa.String(128), primary_key=True),
        sa.Column("vector", sa.LargeBinary, nullable=False),
    )
