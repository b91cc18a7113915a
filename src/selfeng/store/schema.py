"""The tables, for SQLite and PostgreSQL alike. Migrations live in
`src/selfeng/store/migrations`.
"""

import sqlalchemy as sa

metadata = sa.MetaData()

properties = sa.Table(
    "properties",  # of the database itself; the migration that makes it puts its `id` there
    metadata,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

conversations = sa.Table(
    "conversations",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("owner", sa.String(64), nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column(
        "active_at",
        sa.DateTime(timezone=True),
        nullable=False,
        server_default=sa.text("'1970-01-01 00:00:00'"),
    ),  # when its newest turn began, or it did
    sa.Column("last_seq", sa.Integer, nullable=False, server_default="0"),
    sa.Column(
        "kind", sa.String(16), nullable=False, server_default="chat"
    ),  # chat, project, temporary: see store.conversation_list
    sa.Column("pinned", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("deleted_at", sa.DateTime(timezone=True)),  # it can be restored for a while
    sa.Column(
        "seen_seq", sa.Integer, nullable=False, server_default="0"
    ),  # the last event that its owner has seen
    sa.Column(
        "model", sa.Text, nullable=False, server_default=sa.text("''")
    ),  # "" for the configured one
    sa.Index("ix_conversations_owner_kind_active_at", "owner", "kind", "active_at"),
)

turns = sa.Table(
    "turns",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("conversation_id", sa.String(32), sa.ForeignKey("conversations.id"), nullable=False),
    sa.Column("parent_id", sa.String(32), index=True),  # the turn that it follows; NULL: none
    sa.Column("request", sa.Text, nullable=False),
    sa.Column("standalone", sa.Text),  # the request as the model rewrote it to stand alone
    sa.Column("answer", sa.Text),
    sa.Column(
        "state", sa.String(16), nullable=False, index=True
    ),  # running, finished, failed, stopped
    sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column(
        "server", sa.Text
    ),  # which process runs it, or took it into the queue, see core.process; NULL: none
    sa.Column(
        "lease", sa.Integer, nullable=False, server_default="1"
    ),  # grows whenever another process takes the turn over, whose events count from then on
    sa.Column("given", sa.Text),  # JSON of turns.given, while it runs: what a process goes on with
    sa.Column(
        "queued", sa.Integer, nullable=False, server_default="0"
    ),  # how many turns had been admitted when it came
    sa.Column(
        "admitted", sa.Integer, server_default="0", index=True
    ),  # the number of its admission; NULL while it waits in the queue
    sa.Index("ix_turns_conversation_id_started_at", "conversation_id", "started_at"),
    # Hashes, because a B-tree of PostgreSQL takes no long texts.
    sa.Index("ix_turns_request", "request", postgresql_using="hash"),
    sa.Index("ix_turns_standalone", "standalone", postgresql_using="hash"),
)

events = sa.Table(
    "events",
    metadata,
    sa.Column(
        "conversation_id", sa.String(32), sa.ForeignKey("conversations.id"), primary_key=True
    ),
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("turn_id", sa.String(32), nullable=False),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("event", sa.Text, nullable=False),  # JSON of core.events.Event
    sa.Column("type", sa.String(32)),  # of the event; NULL where an old version wrote none
    sa.Column("scope", sa.Text),  # the part of the turn that it is numbered in
    sa.Column("n", sa.Integer),  # its number there; NULL for pieces of streams and the like
    sa.Index("ix_events_turn_id_type", "turn_id", "type"),
    sa.Index("ix_events_turn_id_scope_n", "turn_id", "scope", "n", unique=True),
)

spending = sa.Table(
    "spending",  # what turns asked of the model; a row outlives the turn's conversation
    metadata,
    sa.Column("turn_id", sa.String(32), primary_key=True),
    sa.Column("conversation_id", sa.String(32), nullable=False, index=True),
    sa.Column("owner", sa.String(64), nullable=False),
    sa.Column("month", sa.String(7), nullable=False),  # such as 2026-11, UTC
    sa.Column("tokens", sa.Integer, nullable=False, server_default="0"),
    sa.Column("cost", sa.Float),  # US dollars; NULL if unknown
    sa.Column("saved_tokens", sa.Integer),  # by the tools that it reused; NULL if it reused none
    sa.Column("saved_cost", sa.Float),  # US dollars; NULL if unknown
    sa.Index("ix_spending_month_owner", "month", "owner"),
)

effects = sa.Table(
    "effects",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),  # of the step of a turn that had it
    sa.Column("outcome", sa.Text, nullable=False),  # "" for none
)

processes = sa.Table(
    "processes",  # those that run turns, on PostgreSQL, and how often each said that it runs
    metadata,
    sa.Column("name", sa.Text, primary_key=True),  # see core.process
    sa.Column("beats", sa.Integer, nullable=False),
    sa.Column("room", sa.Integer, nullable=False),  # turns of others it takes
    sa.Column("unready", sa.Text, nullable=False),  # why it takes none yet
)

shares = sa.Table(
    "shares",  # links under which anybody may read a conversation
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column(
        "conversation_id",
        sa.String(32),
        sa.ForeignKey("conversations.id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    sa.Column("token", sa.String(64), nullable=False, unique=True),  # its SHA-256
    sa.Column("last_seq", sa.Integer, nullable=False),  # the last event that it may show
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),  # when it was last renewed
    sa.Column("expires_at", sa.DateTime(timezone=True)),  # NULL: never
)

contents = sa.Table(
    "contents",  # of files and results, by their hash
    metadata,
    sa.Column("sha256", sa.String(64), primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),  # of a large file, its beginning
)

content_pieces = sa.Table(
    "content_pieces",  # the rest of large files' contents
    metadata,
    sa.Column(
        "sha256",
        sa.String(64),
        sa.ForeignKey("contents.sha256", ondelete="CASCADE"),
        primary_key=True,
    ),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
)

files = sa.Table(
    "files",
    metadata,
    sa.Column(
        "conversation_id", sa.String(32), sa.ForeignKey("conversations.id"), primary_key=True
    ),
    sa.Column(
        "seq", sa.Integer, primary_key=True, autoincrement=False
    ),  # of the event that brought it
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("reference", sa.Text, nullable=False),  # JSON of core.files.FileReference
    sa.Column(
        "sha256", sa.String(64), sa.ForeignKey("contents.sha256"), nullable=False, index=True
    ),
)

results = sa.Table(
    "results",  # values that tools returned
    metadata,
    sa.Column(
        "conversation_id", sa.String(32), sa.ForeignKey("conversations.id"), primary_key=True
    ),
    sa.Column(
        "seq", sa.Integer, primary_key=True, autoincrement=False
    ),  # of the event that reports it
    sa.Column("turn_id", sa.String(32), nullable=False, index=True),
    sa.Column("tool", sa.Text, nullable=False),
    sa.Column("reference", sa.Text, nullable=False),  # JSON of core.result.ResultReference
    sa.Column(
        "sha256", sa.String(64), sa.ForeignKey("contents.sha256"), nullable=False, index=True
    ),
)

tools = sa.Table(
    "tools",
    metadata,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column(
        "state", sa.String(16), nullable=False
    ),  # pending, revising, active, removing, missing: see registry.records
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("signature", sa.Text, nullable=False),  # JSON of core.signature.Signature
    sa.Column("code", sa.Text, nullable=False),
    sa.Column("tests", sa.Text, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("example_requests", sa.Text, nullable=False),  # JSON list of strings
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("uses", sa.Integer, nullable=False, server_default="0"),
    sa.Column("version", sa.Integer, nullable=False, server_default="1"),
    sa.Column(
        "standing", sa.String(16), nullable=False, server_default="provisional"
    ),  # see core.tool.Standing
    sa.Column(
        "requires", sa.Text, nullable=False, server_default="[]"
    ),  # JSON list of core.tool.Requirement
    sa.Column(
        "failures", sa.Integer, nullable=False, server_default="0"
    ),  # failures of this version since its last success
    sa.Column("imported", sa.Text),  # JSON of core.tool.Imported
    sa.Column("witnesses", sa.Text, nullable=False, server_default="[]"),  # JSON list of sources
    sa.Column("network", sa.Text, nullable=False, server_default="[]"),  # JSON of NetworkAccesses
    sa.Column("cassette", sa.String(64)),  # of `cassettes`; NULL: nothing is recorded
    sa.Column("lock", sa.Text),  # JSON of core.package_lock.PackageLock
    sa.Column("limits", sa.Text, nullable=False, server_default="{}"),  # JSON of CallLimits
    sa.Column(
        "frozen", sa.Boolean, nullable=False, server_default=sa.false()
    ),  # no automatic repair changes it
    sa.Column(
        "merged_into", sa.String(64), nullable=False, server_default=sa.text("''")
    ),  # retired: the tool that a person merged it into; "" for none
    sa.Column("used_at", sa.DateTime(timezone=True)),  # when it last served; NULL: never
    # Everything that is read of every tool when a library opens; the index leaves out the sources.
    sa.Index("ix_tools_entry", "name", "state", "standing", "version", "created_at", "merged_into"),
)

tool_versions = sa.Table(
    # every version ever registered; they outlive their tool, and a new tool of the name counts on
    "tool_versions",
    metadata,
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
    sa.Column("imported", sa.Text),
    sa.Column("witnesses", sa.Text, nullable=False, server_default="[]"),
    sa.Column("network", sa.Text, nullable=False, server_default="[]"),
    sa.Column("cassette", sa.String(64)),
    sa.Column("lock", sa.Text),
    sa.Column("limits", sa.Text, nullable=False, server_default="{}"),
    sa.Column("origin", sa.Text, nullable=False),  # JSON of core.provenance.Origin
    sa.Column("verdict", sa.Text),  # JSON of core.verdict.Verdict
    sa.Column("prompts", sa.Text, nullable=False),  # JSON list of core.provenance.AskedPrompt
    sa.Column("usage", sa.Text),  # JSON of core.events.Usage
    sa.Column("seconds", sa.Float),  # that the turn had run; NULL if unknown
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column(
        "owner", sa.String(64), nullable=False, server_default=sa.text("''")
    ),  # whose request made it; "": nobody's, or an old version of the program did
)

cassettes = sa.Table(
    "cassettes",  # the recorded exchanges of versions, by their hash
    metadata,
    sa.Column("sha256", sa.String(64), primary_key=True),
    sa.Column("exchanges", sa.Text, nullable=False),  # JSON list of core.http.Exchange
)

grants = sa.Table(
    "grants",  # what persons allow tools to have; a new tool of a name has none
    metadata,
    sa.Column("tool", sa.String(64), primary_key=True),
    sa.Column("key", sa.String(64), primary_key=True),  # sha256 of the need's key
    sa.Column("version", sa.Integer, nullable=False),  # that asked
    sa.Column("need", sa.Text, nullable=False),  # JSON of core.tool.Need
    sa.Column("owner", sa.String(64), nullable=False),  # who allowed it, for all
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
)

proposals = sa.Table(
    "proposals",  # new tools and versions that wait for a person to accept them
    metadata,
    sa.Column("owner", sa.String(64), primary_key=True),
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("proposal", sa.Text, nullable=False),  # JSON of core.provenance.Proposal
)

tool_uses = sa.Table(
    "tool_uses",  # the different calls that a version has served; none are added once it is trusted
    metadata,
    sa.Column(
        "name", sa.String(64), sa.ForeignKey("tools.name", ondelete="CASCADE"), primary_key=True
    ),
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("call", sa.String(64), primary_key=True),  # sha256 of arguments and files
)

tool_reuses = sa.Table(
    "tool_reuses",  # turns that reused a tool, with its share of what they asked of the model
    metadata,
    sa.Column(
        "tool", sa.String(64), sa.ForeignKey("tools.name", ondelete="CASCADE"), primary_key=True
    ),
    sa.Column("turn_id", sa.String(32), primary_key=True),  # "" for all calls without a turn
    sa.Column("owner", sa.String(64), nullable=False, index=True),
    sa.Column("reuses", sa.Integer, nullable=False),
    sa.Column("tokens", sa.Integer, nullable=False),
    sa.Column("cost", sa.Float),  # US dollars; NULL if unknown
    sa.Column("seconds", sa.Float, nullable=False),
)

tool_vectors = sa.Table(
    "tool_vectors",
    metadata,
    sa.Column(
        "name", sa.String(64), sa.ForeignKey("tools.name", ondelete="CASCADE"), primary_key=True
    ),
    sa.Column("embedder", sa.String(128), primary_key=True),
    sa.Column("vector", sa.LargeBinary, nullable=False),  # little-endian float32
)

tool_requests = sa.Table(
    "tool_requests",  # requests that a tool has served; its example requests are in its record
    metadata,
    sa.Column(
        "name", sa.String(64), sa.ForeignKey("tools.name", ondelete="CASCADE"), primary_key=True
    ),
    sa.Column("request", sa.Text, primary_key=True),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    sa.Column(
        "owner", sa.String(64), nullable=False, server_default=sa.text("''")
    ),  # whose it was first
)

tool_words = sa.Table(
    "tool_words",  # on SQLite triggers copy them to the FTS5 table WORD_INDEX; the id is its rowid
    metadata,
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

WORD_INDEX = "tool_words_index"

tool_changes = sa.Table(
    # the last change of every tool name ever used, numbered by properties.library_revision
    "tool_changes",
    metadata,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column(
        "embedder", sa.String(128), primary_key=True
    ),  # "": the record changed; else the vector of this embedder
    sa.Column("revision", sa.Integer, nullable=False, index=True),
)

lessons = sa.Table(
    "lessons",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("agent", sa.String(16), nullable=False, index=True),  # core.lesson.AgentKind
    sa.Column("trigger", sa.Text, nullable=False),
    sa.Column("advice", sa.Text, nullable=False),
    sa.Column("uses", sa.Integer, nullable=False),
    sa.Column("helped", sa.Integer, nullable=False),
    sa.Column("failed", sa.Integer, nullable=False),
    sa.Column("weight", sa.Float, nullable=False),
    sa.Column("expired", sa.Boolean, nullable=False),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column(
        "owner", sa.String(64), nullable=False, server_default=sa.text("''")
    ),  # whose turn taught it
)

lesson_evidence = sa.Table(
    "lesson_evidence",
    metadata,
    sa.Column(
        "lesson_id",
        sa.String(32),
        sa.ForeignKey("lessons.id", ondelete="CASCADE"),
        primary_key=True,
    ),
    sa.Column(
        "turn_id",
        sa.String(32),
        sa.ForeignKey("turns.id", ondelete="CASCADE"),
        primary_key=True,
        index=True,
    ),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
)

examined_turns = sa.Table(
    "examined_turns",  # turns that were examined for lessons, or are to be when they have ended
    metadata,
    sa.Column(
        "turn_id", sa.String(32), sa.ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True
    ),
    sa.Column(
        "digest", sa.String(64), nullable=False, index=True
    ),  # of the text that the model was shown, "" if none
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    sa.Column(
        "unusable", sa.Integer, nullable=False, server_default="0"
    ),  # replies that could not be used so far; 0: it was examined, -1: it is to be
)

agents = sa.Table(
    "agents",  # instances of agents: one for each sender in a conversation
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column(
        "conversation_id", sa.String(64), nullable=False
    ),  # of `conversations`, or what a Python program names
    sa.Column("sender", sa.String(16), nullable=False),
    sa.Column("agent", sa.String(16), nullable=False),  # its kind
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.UniqueConstraint("conversation_id", "sender", "agent"),
)

agent_messages = sa.Table(
    "agent_messages",
    metadata,
    sa.Column(
        "agent_id", sa.String(32), sa.ForeignKey("agents.id", ondelete="CASCADE"), primary_key=True
    ),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("role", sa.String(16), nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
)

server_tools = sa.Table(
    "server_tools",  # of other MCP servers
    metadata,
    sa.Column("server", sa.String(32), primary_key=True),  # its name in mcp.json
    sa.Column("tool", sa.String(128), primary_key=True),
    sa.Column("definition", sa.Text),  # JSON of core.server_tool.ServerTool; NULL: not listed now
    sa.Column("allowed", sa.String(64)),  # the digest that a person always allows
)

secrets = sa.Table(
    "secrets",  # that tools use
    metadata,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("content", sa.Text),  # encrypted, see servers.vault; NULL: in the system's keyring
    sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column(
        "owner", sa.String(64), nullable=False, server_default=sa.text("''")
    ),  # who entered it
)

schedules = sa.Table(
    "schedules",  # calls of tools at set times
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("owner", sa.String(64), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("plan", sa.Text, nullable=False),  # JSON of core.schedule.SchedulePlan
    sa.Column("files", sa.Text, nullable=False),  # JSON list of core.files.FileReference
    sa.Column("conversation_id", sa.String(32), nullable=False, index=True),  # may be removed
    sa.Column("state", sa.String(16), nullable=False),  # active, paused
    sa.Column("reason", sa.Text, nullable=False),  # paused: why
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("next_at", sa.DateTime(timezone=True), nullable=False, index=True),
    sa.Column("run", sa.String(32), nullable=False, index=True),  # the turn that runs; "" for none
    sa.Column("due_at", sa.DateTime(timezone=True)),  # of that run
    sa.Column("begun_at", sa.DateTime(timezone=True)),  # of that run
    sa.Column("tries", sa.Integer, nullable=False, server_default="0"),  # of that run
    sa.Column("given", sa.Text),  # JSON of further arguments of that run
    sa.Column("delivered_at", sa.DateTime(timezone=True)),  # when a process began to deliver it
    sa.Column("last", sa.Text),  # JSON of core.schedule.ScheduledRun
    sa.Column("watches", sa.Boolean, nullable=False, server_default=sa.false()),  # a folder
    sa.Column("run_files", sa.Text),  # JSON list of core.files.FileReference, of that run
    sa.UniqueConstraint("owner", "name"),
)

subscriptions = sa.Table(
    "subscriptions",  # indexes of other libraries that persons follow
    metadata,
    sa.Column("owner", sa.String(64), primary_key=True),
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("subscription", sa.Text, nullable=False),  # JSON of store.subscriptions.Subscription
)
