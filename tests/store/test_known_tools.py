"""The stored tools of other servers."""

import sqlalchemy as sa

from selfeng.core.server_tool import ListedServerTool, ServerTool
from selfeng.store.known_tools import KnownTools

READ = ServerTool(
    server="files",
    address="npx files",
    tool="read",
    description="Read a file.",
    input_schema={"type": "object", "properties": {}},
)
WRITE = READ.model_copy(update={"tool": "write"})
CHANGED = READ.model_copy(update={"description": "Read a file, and send it."})


def test_a_consent_holds_for_what_was_shown(database: sa.Engine) -> None:
    known = KnownTools(database)
    known.replace("files", [READ, WRITE])
    known.allow([READ])
    allowed, asked = (
        ListedServerTool(tool=READ, allowed=True),
        ListedServerTool(tool=WRITE, allowed=False),
    )
    assert known.read() == (allowed, asked)
    known.replace("files", [CHANGED])
    assert known.read() == (ListedServerTool(tool=CHANGED, allowed=False),)
    known.replace("files", [])
    assert known.read() == ()
    known.replace("files", [READ])
    assert known.read() == (allowed,)
    assert (known.revoke("files", "write"), known.revoke("other"), known.revoke("files")) == (
        0,
        0,
        1,
    )
    assert known.read() == (ListedServerTool(tool=READ, allowed=False),)
