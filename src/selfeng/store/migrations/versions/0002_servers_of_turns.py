"""Which server runs a turn, so that another that starts ends only the turns of dead ones."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("turns", sa.Column("server", sa.Text))
