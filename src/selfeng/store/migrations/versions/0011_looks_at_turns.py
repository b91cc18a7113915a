"""How often the reply about a turn was unusable, so that learning looks at it again."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column(
        "examined_turns", sa.Column("unusable", sa.Integer, nullable=False, server_default="0")
    )
