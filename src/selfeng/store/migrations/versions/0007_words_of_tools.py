"""The words by which tools are found, the requests that they have served, and what has changed
since when.

On SQLite triggers keep a full-text index of the words; `tool_words.id` is its rowid, a column of
its own since VACUUM may renumber implicit ones. The library fills the words of tools that are there
already when it starts.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_INDEX = (
    """CREATE VIRTUAL TABLE tool_words_index
       USING fts5(words, content='tool_words', content_rowid='id', tokenize='porter unicode61')""",
    """CREATE TRIGGER tool_words_added AFTER INSERT ON tool_words BEGIN
         INSERT INTO tool_words_index (rowid, words) VALUES (new.id, new.words);
       END""",
    """CREATE TRIGGER tool_words_removed AFTER DELETE ON tool_words BEGIN
         INSERT INTO tool_words_index (tool_words_index, rowid, words) VALUES ('delete', old.id, old.words);
       END""",  # noqa: E501
    """CREATE TRIGGER tool_words_changed AFTER UPDATE ON tool_words BEGIN
         INSERT INTO tool_words_index (tool_words_index, rowid, words) VALUES ('delete', old.id, old.words);
         INSERT INTO tool_words_index (rowid, words) VALUES (new.id, new.words);
       END""",  # noqa: E501
)


def upgrade() -> None:
    op.create_table(
        "tool_requests",
        sa.Column(
            "name", sa.String(64), sa.ForeignKey("tools.name", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("request", sa.Text, primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "tool_words",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "name",
            sa.String(64),
            sa.ForeignKey("tools.name", ondelete="CASCADE"),
            nullable=False,
            unique=True,
        ),
        sa.Column("words", sa.Text, nullable=False),
    )
    op.create_table(
        "tool_changes",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("embedder", sa.String(128), primary_key=True),
        sa.Column("revision", sa.Integer, nullable=False, index=True),
    )
    op.create_index(
        "ix_tools_entry", "tools", ["name", "state", "standing", "version", "created_at"]
    )
    op.execute("INSERT INTO properties (name, value) VALUES ('library_revision', '0')")
    if op.get_bind().dialect.name == "sqlite":
        for statement in _INDEX:
            op.execute(statement)
