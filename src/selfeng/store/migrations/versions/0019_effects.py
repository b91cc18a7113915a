"""Effects of the steps of turns that go on after an interruption, each of which happens once."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_table(
        "effects",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("outcome", sa.Text, nullable=False),
    )
