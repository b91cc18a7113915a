"""Health of the library: when a tool last served, and what it was merged into.

Revision ID: 0033
"""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    text = sa.Column("merged_into", sa.String(64), server_default=sa.text("''"), nullable=False)
    op.add_column("tools", text)
    op.add_column("tools", sa.Column("used_at", sa.DateTime(timezone=True)))
    columns = ["name", "state", "standing", "version", "created_at", "merged_into"]
    op.drop_index("ix_tools_entry", "tools")
    op.create_index("ix_tools_entry", "tools", columns)
    tools = sa.table("tools", sa.column("uses"), sa.column("used_at", sa.DateTime(timezone=True)))
    op.execute(tools.update().where(tools.c.uses > 0).values(used_at=datetime.now(UTC)))
