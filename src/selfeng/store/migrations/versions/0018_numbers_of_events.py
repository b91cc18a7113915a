"""Events numbered within their turn, and turns that another process can go on with."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.add_column("turns", sa.Column("lease", sa.Integer, nullable=False, server_default="1"))
    op.add_column("turns", sa.Column("given", sa.Text))
    op.add_column("events", sa.Column("scope", sa.Text))
    op.add_column("events", sa.Column("n", sa.Integer))
    op.create_index("ix_events_turn_id_scope_n", "events", ["turn_id", "scope", "n"], unique=True)
