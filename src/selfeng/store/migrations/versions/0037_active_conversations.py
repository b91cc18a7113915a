"""When each conversation was active: the list begins with the newest without a look at all turns.

Revision ID: 0037
"""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    never = sa.text("'1970-01-01 00:00:00'")
    op.add_column(
        "conversations",
        sa.Column("active_at", sa.DateTime(timezone=True), server_default=never, nullable=False),
    )
    op.execute(
        "UPDATE conversations SET active_at = coalesce((SELECT max(started_at) FROM turns "
        "WHERE turns.conversation_id = conversations.id), created_at)"
    )
    op.drop_index("ix_conversations_owner", "conversations")
    columns = ["owner", "kind", "active_at"]
    op.create_index("ix_conversations_owner_kind_active_at", "conversations", columns)
