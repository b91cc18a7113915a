"""The files of conversations; contents are kept once, however many conversations have them."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "contents",
        sa.Column("sha256", sa.String(64), primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "files",
        sa.Column(
            "conversation_id", sa.String(32), sa.ForeignKey("conversations.id"), primary_key=True
        ),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("sha256", sa.String(64), sa.ForeignKey("contents.sha256"), nullable=False),
    )
