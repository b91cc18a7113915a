"""Proposals, which wait for a person to accept them, and frozen tools."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    frozen = sa.Column("frozen", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("tools", frozen)
    op.create_table(
        "proposals",
        sa.Column("owner", sa.String(64), primary_key=True),
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("proposal", sa.Text, nullable=False),
    )
