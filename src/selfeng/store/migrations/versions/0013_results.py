"""The values that tools returned; their contents are kept once, as those of files."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "results",
        sa.Column(
            "conversation_id", sa.String(32), sa.ForeignKey("conversations.id"), primary_key=True
        ),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("turn_id", sa.String(32), nullable=False),
        sa.Column("tool", sa.Text, nullable=False),
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("sha256", sa.String(64), sa.ForeignKey("contents.sha256"), nullable=False),
    )
    op.create_index("ix_results_turn_id", "results", ["turn_id"])
