"""The witnesses of versions: other candidates that passed the gate. Earlier versions have none."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    for table in ("tools", "tool_versions"):
        column = sa.Column("witnesses", sa.Text, nullable=False, server_default="[]")
        op.add_column(table, column)
