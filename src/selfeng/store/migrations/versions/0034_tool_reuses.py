"""The turns that reused tools, also those that have ended, and how long turns had run that made a
version.

Revision ID: 0034
"""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    op.add_column("tool_versions", sa.Column("seconds", sa.Float))
    tool_reuses = op.create_table(
        "tool_reuses",
        sa.Column("tool", sa.String(64), sa.ForeignKey("tools.name", ondelete="CASCADE")),
        sa.Column("turn_id", sa.String(32), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("reuses", sa.Integer, nullable=False),
        sa.Column("tokens", sa.Integer, nullable=False),
        sa.Column("cost", sa.Float),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("tool", "turn_id"),
    )
    op.create_index("ix_tool_reuses_owner", "tool_reuses", ["owner"])
    connection = op.get_bind()
    tools = set(connection.scalars(sa.text("SELECT name FROM tools")))
    ends = sa.text(
        "SELECT e.turn_id, c.owner, e.at, e.event FROM events e "
        "JOIN conversations c ON c.id = e.conversation_id WHERE e.type = 'turn_finished' "
        "ORDER BY c.created_at DESC"
    )
    rows: dict[tuple[str, ...], dict[str, Any]] = {}  # once for a turn and its copies in forks
    for turn_id, owner, at, text in connection.execute(ends):
        event = json.loads(text)
        usage, reused = event.get("usage") or {}, event.get("reused") or ()
        tokens = usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
        cost = usage.get("cost") if usage.get("calls") else 0.0
        for tool in tools.intersection(reused):
            rows[tool, owner, str(at)] = {
                "tool": tool,
                "turn_id": turn_id,
                "owner": owner,
                "reuses": 1,
                "tokens": tokens // len(reused),
                "cost": None if cost is None else cost / len(reused),
                "seconds": event.get("seconds", 0.0) / len(reused),
            }
    if rows:
        op.bulk_insert(tool_reuses, list(rows.values()))
