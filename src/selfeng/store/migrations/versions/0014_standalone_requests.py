"""The requests of turns as the model rewrote them to stand alone."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("turns", sa.Column("standalone", sa.Text))
