"""The tools of other MCP servers, with what a person allows."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.create_table(
        "server_tools",
        sa.Column("server", sa.String(32), primary_key=True),
        sa.Column("tool", sa.String(128), primary_key=True),
        sa.Column("definition", sa.Text),
        sa.Column("allowed", sa.String(64)),
    )
