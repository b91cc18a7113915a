"""Grants of packages and of higher limits, in addition to hosts.

Revision ID: 0030
"""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    for table in ("tools", "tool_versions"):
        op.add_column(table, sa.Column("lock", sa.Text))
        op.add_column(table, sa.Column("limits", sa.Text, server_default="{}", nullable=False))
    op.alter_column("grants", "access", new_column_name="need")
