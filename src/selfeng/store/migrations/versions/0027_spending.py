"""The spending of turns, also of those that have ended, and a model for each conversation."""

import json
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"

_ENDS = ("turn_finished", "turn_failed", "turn_stopped")


def upgrade() -> None:
    model = sa.Column("model", sa.Text, server_default=sa.text("''"), nullable=False)
    op.add_column("conversations", model)
    spending = op.create_table(
        "spending",
        sa.Column("turn_id", sa.String(32), nullable=False),
        sa.Column("conversation_id", sa.String(32), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("month", sa.String(7), nullable=False),
        sa.Column("tokens", sa.Integer, server_default="0", nullable=False),
        sa.Column("cost", sa.Float),
        sa.Column("saved_tokens", sa.Integer),
        sa.Column("saved_cost", sa.Float),
        sa.PrimaryKeyConstraint("turn_id"),
    )
    op.create_index("ix_spending_conversation_id", "spending", ["conversation_id"])
    op.create_index("ix_spending_month_owner", "spending", ["month", "owner"])
    ends = sa.text(
        "SELECT e.turn_id, e.conversation_id, c.owner, e.at, e.event FROM events e "
        "JOIN conversations c ON c.id = e.conversation_id WHERE e.type IN :ends "
        "ORDER BY c.created_at DESC"
    ).bindparams(sa.bindparam("ends", _ENDS, expanding=True))
    rows: dict[tuple[str, str], dict[str, Any]] = {}  # once for a turn and its copies in forks
    for turn_id, conversation_id, owner, at, event in op.get_bind().execute(ends):
        usage = json.loads(event).get("usage") or {}
        if usage.get("calls"):
            moment = at.astimezone(UTC) if isinstance(at, datetime) else at
            rows[owner, str(at)] = {
                "turn_id": turn_id,
                "conversation_id": conversation_id,
                "owner": owner,
                "month": str(moment)[:7],
                "tokens": usage["input_tokens"] + usage["output_tokens"],
                "cost": usage.get("cost"),
            }
    if rows:
        op.bulk_insert(spending, list(rows.values()))
