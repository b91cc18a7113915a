"""The hosts that tools use: what versions need, what was recorded, and what persons grant.

Revision ID: 0029
"""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    for table in ("tools", "tool_versions"):
        op.add_column(table, sa.Column("network", sa.Text, server_default="[]", nullable=False))
        op.add_column(table, sa.Column("cassette", sa.String(64)))
    op.create_table(
        "cassettes",
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("exchanges", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("sha256"),
    )
    op.create_table(
        "grants",
        sa.Column("tool", sa.String(64), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("access", sa.Text, nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tool", "key"),
    )
