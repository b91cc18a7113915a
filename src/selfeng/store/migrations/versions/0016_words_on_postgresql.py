"""The words of tools as PostgreSQL searches them, and how many they are."""

from alembic import op

revision = "0016"
down_revision = "0015"

_COLUMNS = """ALTER TABLE tool_words
    ADD COLUMN lexemes tsvector GENERATED ALWAYS AS (to_tsvector('english', words)) STORED,
    ADD COLUMN length integer
        GENERATED ALWAYS AS (cardinality(regexp_split_to_array(words, '[^[:alnum:]]+'))) STORED"""
_INDEX = "CREATE INDEX tool_words_index ON tool_words USING gin (lexemes)"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(_COLUMNS)
        op.execute(_INDEX)
