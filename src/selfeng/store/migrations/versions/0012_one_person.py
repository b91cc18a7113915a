"""Conversations that belonged to browsers, by a random id of 22 characters, and to programs belong
to the one person who has the access token.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    conversations = sa.table("conversations", sa.column("owner", sa.String))
    former = (conversations.c.owner == "api") | (sa.func.length(conversations.c.owner) == 22)
    op.execute(conversations.update().where(former).values(owner="person"))
