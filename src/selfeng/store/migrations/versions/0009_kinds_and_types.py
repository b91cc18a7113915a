"""The kind of each conversation and the type of each event as columns, and indexes for what is
looked up with them.

Before, the folder of a project made its conversation one of kind `project`, and the type stood in
the event's JSON only.
"""

import sqlalchemy as sa
from alembic import context, op

revision = "0009"
down_revision = "0008"

_TYPE = {"sqlite": "json_extract(event, '$.type')", "postgresql": "event::json ->> 'type'"}


def upgrade() -> None:
    op.add_column(
        "conversations", sa.Column("kind", sa.String(16), nullable=False, server_default="chat")
    )
    conversations = sa.table("conversations", sa.column("id"), sa.column("kind"))
    for project in context.config.attributes.get("projects", ()):
        op.execute(
            conversations.update().where(conversations.c.id == project).values(kind="project")
        )
    op.add_column("events", sa.Column("type", sa.String(32)))
    op.execute(f"UPDATE events SET type = {_TYPE[op.get_bind().dialect.name]}")  # noqa: S608 - from the table above
    op.drop_index("ix_events_turn_id", "events")
    op.create_index("ix_events_turn_id_type", "events", ["turn_id", "type"])
    op.drop_index("ix_turns_conversation_id", "turns")
    op.create_index(
        "ix_turns_conversation_id_started_at", "turns", ["conversation_id", "started_at"]
    )
    op.create_index("ix_turns_state", "turns", ["state"])
