"""What was learnt from turns, which turns taught it, and which have been looked at."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "lessons",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("agent", sa.String(16), nullable=False, index=True),
        sa.Column("trigger", sa.Text, nullable=False),
        sa.Column("advice", sa.Text, nullable=False),
        sa.Column("uses", sa.Integer, nullable=False),
        sa.Column("helped", sa.Integer, nullable=False),
        sa.Column("failed", sa.Integer, nullable=False),
        sa.Column("weight", sa.Float, nullable=False),
        sa.Column("expired", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "lesson_evidence",
        sa.Column(
            "lesson_id",
            sa.String(32),
            sa.ForeignKey("lessons.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column(
            "turn_id",
            sa.String(32),
            sa.ForeignKey("turns.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "examined_turns",
        sa.Column(
            "turn_id",
            sa.String(32),
            sa.ForeignKey("turns.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("digest", sa.String(64), nullable=False, index=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
