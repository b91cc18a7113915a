"""The agents of lessons by the names of their stages."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_NOW = {
    "specification": "specify",
    "tests": "test",
    "implementation": "implement",
    "execution": "execute",
}


def upgrade() -> None:
    lessons = sa.table("lessons", sa.column("agent"))
    for former, now in _NOW.items():
        op.execute(lessons.update().where(lessons.c.agent == former).values(agent=now))
