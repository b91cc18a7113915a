"""Owners of versions, secrets, learned requests and lessons. Where one person has all
conversations, that person owns the existing ones; elsewhere their owner is not known.

Revision ID: 0031
"""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"

_ALONE = "(SELECT count(DISTINCT owner) FROM conversations) = 1"
_SAID = {"tool_versions": "usage IS NOT NULL", "tool_requests": "1 = 1", "lessons": "1 = 1"}


def upgrade() -> None:
    for table in ("tool_versions", "secrets", "tool_requests", "lessons"):
        op.add_column(
            table, sa.Column("owner", sa.String(64), server_default=sa.text("''"), nullable=False)
        )
    for table, condition in _SAID.items():
        op.execute(
            f"UPDATE {table} SET owner = (SELECT min(owner) FROM conversations) "  # noqa: S608
            f"WHERE {condition} AND {_ALONE}"
        )
