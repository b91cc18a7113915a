"""Versions, standing and requirements of tools; what is registered already becomes version 1 of
itself.

Its uses stay counted, but nobody noted whether they were different calls, so it begins provisional
like every tool.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_COPIED = (
    "name",
    "description",
    "signature",
    "code",
    "tests",
    "digest",
    "example_requests",
    "model",
    "created_at",
)


def upgrade() -> None:
    op.add_column("tools", sa.Column("version", sa.Integer, nullable=False, server_default="1"))
    op.add_column(
        "tools", sa.Column("standing", sa.String(16), nullable=False, server_default="provisional")
    )
    op.add_column("tools", sa.Column("requires", sa.Text, nullable=False, server_default="[]"))
    op.add_column("tools", sa.Column("failures", sa.Integer, nullable=False, server_default="0"))
    versions = op.create_table(
        "tool_versions",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("signature", sa.Text, nullable=False),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("tests", sa.Text, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("example_requests", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("requires", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("verdict", sa.Text),
        sa.Column("prompts", sa.Text, nullable=False),
        sa.Column("usage", sa.Text),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "tool_uses",
        sa.Column(
            "name", sa.String(64), sa.ForeignKey("tools.name", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("call", sa.String(64), primary_key=True),
    )
    tools = sa.table("tools", *map(sa.column, _COPIED))
    said = {
        "version": "1",
        "requires": "'[]'",
        "prompts": "'[]'",
        "origin": """'{"how":"created"}'""",
    }
    rows = sa.select(
        *(tools.c[name] for name in _COPIED), *(sa.literal_column(value) for value in said.values())
    )
    op.execute(versions.insert().from_select([*_COPIED, *said], rows))
