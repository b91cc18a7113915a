"""Subscriptions: indexes of other libraries whose updates become proposals.

Revision ID: 0035
"""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    op.create_table(
        "subscriptions",
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("subscription", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("owner", "name"),
    )
