"""Where tools of other libraries came from."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    for table in ("tools", "tool_versions"):
        op.add_column(table, sa.Column("imported", sa.Text))
