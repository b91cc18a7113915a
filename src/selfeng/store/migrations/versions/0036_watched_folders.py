"""Watched folders: which schedules have one, and the files of their runs.

Revision ID: 0036
"""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    op.add_column(
        "schedules", sa.Column("watches", sa.Boolean, server_default=sa.false(), nullable=False)
    )
    op.add_column("schedules", sa.Column("run_files", sa.Text))
