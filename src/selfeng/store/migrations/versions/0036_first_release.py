"""All tables as of the first release.

SQLite keeps the full-text index of the words by triggers; `tool_words.id` is its rowid, a column of
its own since VACUUM may renumber implicit ones. PostgreSQL computes the words that it searches.
"""

from typing import Any
from uuid import uuid4

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = None

_INDEXES: tuple[tuple[str, str, list[str], dict[str, Any]], ...] = (
    ("ix_conversations_owner", "conversations", ["owner"], {}),
    ("ix_lessons_agent", "lessons", ["agent"], {}),
    ("ix_tool_changes_revision", "tool_changes", ["revision"], {}),
    (
        "ix_tools_entry",
        "tools",
        ["name", "state", "standing", "version", "created_at", "merged_into"],
        {},
    ),
    ("ix_events_turn_id_scope_n", "events", ["turn_id", "scope", "n"], {"unique": True}),
    ("ix_events_turn_id_type", "events", ["turn_id", "type"], {}),
    ("ix_files_sha256", "files", ["sha256"], {}),
    ("ix_results_sha256", "results", ["sha256"], {}),
    ("ix_results_turn_id", "results", ["turn_id"], {}),
    ("ix_shares_conversation_id", "shares", ["conversation_id"], {}),
    ("ix_turns_admitted", "turns", ["admitted"], {}),
    ("ix_turns_conversation_id_started_at", "turns", ["conversation_id", "started_at"], {}),
    ("ix_turns_parent_id", "turns", ["parent_id"], {}),
    ("ix_turns_request", "turns", ["request"], {"postgresql_using": "hash"}),
    ("ix_turns_standalone", "turns", ["standalone"], {"postgresql_using": "hash"}),
    ("ix_turns_state", "turns", ["state"], {}),
    ("ix_examined_turns_digest", "examined_turns", ["digest"], {}),
    ("ix_lesson_evidence_turn_id", "lesson_evidence", ["turn_id"], {}),
    ("ix_schedules_conversation_id", "schedules", ["conversation_id"], {}),
    ("ix_schedules_next_at", "schedules", ["next_at"], {}),
    ("ix_schedules_run", "schedules", ["run"], {}),
    ("ix_spending_conversation_id", "spending", ["conversation_id"], {}),
    ("ix_spending_month_owner", "spending", ["month", "owner"], {}),
    ("ix_tool_reuses_owner", "tool_reuses", ["owner"], {}),
)
_SQLITE_INDEX = (
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
_POSTGRESQL_INDEX = (
    """ALTER TABLE tool_words
    ADD COLUMN lexemes tsvector GENERATED ALWAYS AS (to_tsvector('english', words)) STORED,
    ADD COLUMN length integer
        GENERATED ALWAYS AS (cardinality(regexp_split_to_array(words, '[^[:alnum:]]+'))) STORED""",
    "CREATE INDEX tool_words_index ON tool_words USING gin (lexemes)",
)


def upgrade() -> None:
    op.create_table(
        "agents",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("conversation_id", sa.String(64), nullable=False),
        sa.Column("sender", sa.String(16), nullable=False),
        sa.Column("agent", sa.String(16), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("conversation_id", "sender", "agent"),
    )
    op.create_table(
        "cassettes",
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("exchanges", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("sha256"),
    )
    op.create_table(
        "contents",
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("sha256"),
    )
    op.create_table(
        "content_pieces",
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(["sha256"], ["contents.sha256"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("sha256", "number"),
    )
    op.create_table(
        "conversations",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seq", sa.Integer, server_default="0", nullable=False),
        sa.Column("kind", sa.String(16), server_default="chat", nullable=False),
        sa.Column("pinned", sa.Boolean, server_default=sa.false(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
        sa.Column("seen_seq", sa.Integer, server_default="0", nullable=False),
        sa.Column("model", sa.Text, server_default=sa.text("''"), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "effects",
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "grants",
        sa.Column("tool", sa.String(64), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("need", sa.Text, nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tool", "key"),
    )
    op.create_table(
        "lessons",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("agent", sa.String(16), nullable=False),
        sa.Column("trigger", sa.Text, nullable=False),
        sa.Column("advice", sa.Text, nullable=False),
        sa.Column("uses", sa.Integer, nullable=False),
        sa.Column("helped", sa.Integer, nullable=False),
        sa.Column("failed", sa.Integer, nullable=False),
        sa.Column("weight", sa.Float, nullable=False),
        sa.Column("expired", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("owner", sa.String(64), server_default=sa.text("''"), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "processes",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("beats", sa.Integer, nullable=False),
        sa.Column("room", sa.Integer, nullable=False),
        sa.Column("unready", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "properties",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "proposals",
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("proposal", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("owner", "name"),
    )
    op.create_table(
        "schedules",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("files", sa.Text, nullable=False),
        sa.Column("conversation_id", sa.String(32), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("run", sa.String(32), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True)),
        sa.Column("begun_at", sa.DateTime(timezone=True)),
        sa.Column("tries", sa.Integer, server_default="0", nullable=False),
        sa.Column("given", sa.Text),
        sa.Column("delivered_at", sa.DateTime(timezone=True)),
        sa.Column("last", sa.Text),
        sa.Column("watches", sa.Boolean, server_default=sa.false(), nullable=False),
        sa.Column("run_files", sa.Text),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("owner", "name"),
    )
    op.create_table(
        "secrets",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("content", sa.Text),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("owner", sa.String(64), server_default=sa.text("''"), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "server_tools",
        sa.Column("server", sa.String(32), nullable=False),
        sa.Column("tool", sa.String(128), nullable=False),
        sa.Column("definition", sa.Text),
        sa.Column("allowed", sa.String(64)),
        sa.PrimaryKeyConstraint("server", "tool"),
    )
    op.create_table(
        "spending",
        sa.Column("turn_id", sa.String(32), nullable=False),
        sa.Column("conversation_id", sa.String(32), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("month", sa.String(7), nullable=False),
        sa.Column("tokens", sa.Integer, server_default="0", nullable=False),
        sa.Column("cost", sa.Float),
        sa.Column("saved_tokens", sa.Integer),
        sa.Column("saved_cost", sa.Float),
        sa.PrimaryKeyConstraint("turn_id"),
    )
    op.create_table(
        "subscriptions",
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("subscription", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("owner", "name"),
    )
    op.create_table(
        "tool_changes",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("embedder", sa.String(128), nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("name", "embedder"),
    )
    op.create_table(
        "tool_versions",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("signature", sa.Text, nullable=False),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("tests", sa.Text, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("example_requests", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("requires", sa.Text, nullable=False),
        sa.Column("imported", sa.Text),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("verdict", sa.Text),
        sa.Column("prompts", sa.Text, nullable=False),
        sa.Column("usage", sa.Text),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("witnesses", sa.Text, server_default="[]", nullable=False),
        sa.Column("network", sa.Text, server_default="[]", nullable=False),
        sa.Column("cassette", sa.String(64)),
        sa.Column("lock", sa.Text),
        sa.Column("limits", sa.Text, server_default="{}", nullable=False),
        sa.Column("owner", sa.String(64), server_default=sa.text("''"), nullable=False),
        sa.Column("seconds", sa.Float),
        sa.PrimaryKeyConstraint("name", "version"),
    )
    op.create_table(
        "tools",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("signature", sa.Text, nullable=False),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("tests", sa.Text, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("example_requests", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("uses", sa.Integer, server_default="0", nullable=False),
        sa.Column("version", sa.Integer, server_default="1", nullable=False),
        sa.Column("standing", sa.String(16), server_default="provisional", nullable=False),
        sa.Column("requires", sa.Text, server_default="[]", nullable=False),
        sa.Column("failures", sa.Integer, server_default="0", nullable=False),
        sa.Column("imported", sa.Text),
        sa.Column("witnesses", sa.Text, server_default="[]", nullable=False),
        sa.Column("frozen", sa.Boolean, server_default=sa.false(), nullable=False),
        sa.Column("network", sa.Text, server_default="[]", nullable=False),
        sa.Column("cassette", sa.String(64)),
        sa.Column("lock", sa.Text),
        sa.Column("limits", sa.Text, server_default="{}", nullable=False),
        sa.Column("merged_into", sa.String(64), server_default=sa.text("''"), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "agent_messages",
        sa.Column("agent_id", sa.String(32), nullable=False),
        sa.Column("position", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("agent_id", "position"),
    )
    op.create_table(
        "events",
        sa.Column("conversation_id", sa.String(32), nullable=False),
        sa.Column("seq", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("turn_id", sa.String(32), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("type", sa.String(32)),
        sa.Column("scope", sa.Text),
        sa.Column("n", sa.Integer),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
        ),
        sa.PrimaryKeyConstraint("conversation_id", "seq"),
    )
    op.create_table(
        "files",
        sa.Column("conversation_id", sa.String(32), nullable=False),
        sa.Column("seq", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
        ),
        sa.ForeignKeyConstraint(
            ["sha256"],
            ["contents.sha256"],
        ),
        sa.PrimaryKeyConstraint("conversation_id", "seq", "position"),
    )
    op.create_table(
        "results",
        sa.Column("conversation_id", sa.String(32), nullable=False),
        sa.Column("seq", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("turn_id", sa.String(32), nullable=False),
        sa.Column("tool", sa.Text, nullable=False),
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
        ),
        sa.ForeignKeyConstraint(
            ["sha256"],
            ["contents.sha256"],
        ),
        sa.PrimaryKeyConstraint("conversation_id", "seq"),
    )
    op.create_table(
        "shares",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("conversation_id", sa.String(32), nullable=False),
        sa.Column("token", sa.String(64), nullable=False),
        sa.Column("last_seq", sa.Integer, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("token"),
    )
    op.create_table(
        "tool_requests",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("request", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("owner", sa.String(64), server_default=sa.text("''"), nullable=False),
        sa.ForeignKeyConstraint(["name"], ["tools.name"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("name", "request"),
    )
    op.create_table(
        "tool_reuses",
        sa.Column("tool", sa.String(64), nullable=False),
        sa.Column("turn_id", sa.String(32), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("reuses", sa.Integer, nullable=False),
        sa.Column("tokens", sa.Integer, nullable=False),
        sa.Column("cost", sa.Float),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.ForeignKeyConstraint(["tool"], ["tools.name"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("tool", "turn_id"),
    )
    op.create_table(
        "tool_uses",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("call", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(["name"], ["tools.name"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("name", "version", "call"),
    )
    op.create_table(
        "tool_vectors",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("embedder", sa.String(128), nullable=False),
        sa.Column("vector", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(["name"], ["tools.name"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("name", "embedder"),
    )
    op.create_table(
        "tool_words",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("words", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["name"], ["tools.name"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "turns",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("conversation_id", sa.String(32), nullable=False),
        sa.Column("parent_id", sa.String(32)),
        sa.Column("request", sa.Text, nullable=False),
        sa.Column("standalone", sa.Text),
        sa.Column("answer", sa.Text),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("server", sa.Text),
        sa.Column("lease", sa.Integer, server_default="1", nullable=False),
        sa.Column("given", sa.Text),
        sa.Column("queued", sa.Integer, server_default="0", nullable=False),
        sa.Column("admitted", sa.Integer, server_default="0"),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "examined_turns",
        sa.Column("turn_id", sa.String(32), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("unusable", sa.Integer, server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["turn_id"], ["turns.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("turn_id"),
    )
    op.create_table(
        "lesson_evidence",
        sa.Column("lesson_id", sa.String(32), nullable=False),
        sa.Column("turn_id", sa.String(32), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["lesson_id"], ["lessons.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["turn_id"], ["turns.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("lesson_id", "turn_id"),
    )
    for name, table, columns, options in _INDEXES:
        op.create_index(name, table, columns, **options)
    op.bulk_insert(
        sa.table("properties", sa.column("name"), sa.column("value")),
        [{"name": "id", "value": uuid4().hex}, {"name": "library_revision", "value": "0"}],
    )
    for statement in {"sqlite": _SQLITE_INDEX}.get(op.get_bind().dialect.name, _POSTGRESQL_INDEX):
        op.execute(statement)
