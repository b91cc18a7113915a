"""The queue of turns: when each came, and when it was its turn."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.add_column("turns", sa.Column("queued", sa.Integer, nullable=False, server_default="0"))
    op.add_column("turns", sa.Column("admitted", sa.Integer, server_default="0"))
    op.create_index("ix_turns_admitted", "turns", ["admitted"])
