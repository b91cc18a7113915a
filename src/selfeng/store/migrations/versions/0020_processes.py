"""The processes that run turns."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.create_table(
        "processes",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("beats", sa.Integer, nullable=False),
    )
