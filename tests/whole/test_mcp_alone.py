"""`selfeng mcp` without a running app: the real engine in the command's own process."""

import sys
from pathlib import Path

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from tests.home import ROOT, seeded_home

pytestmark = [pytest.mark.extended, pytest.mark.bubblewrap]


async def test_without_a_running_app_the_command_is_the_app(tmp_path: Path) -> None:
    home = seeded_home(tmp_path / "home")
    environment = home.environment(FLASK_PORT="1", MCP_TOOLS="all")
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "selfeng", "mcp"], env=environment, cwd=ROOT
    )
    async with Client(command) as client:
        before = [tool.name for tool in (await client.list_tools()).tools]
        built = await client.call_tool("ask", {"request": "Reverse the string 'hello world'"})
        (tool,) = built.structured_content["new_tools"]
        ran = await client.call_tool(tool["name"], {"text": "abc"})
        after = [tool.name for tool in (await client.list_tools()).tools]
    (answer,) = built.content
    assert isinstance(answer, types.TextContent)
    assert "dlrow olleh" in answer.text
    assert tool["input_schema"]["required"] == ["text"]
    assert ran.structured_content == {"value": "cba"}
    assert set(after) - set(before) == {tool["name"]}
    assert not home.run("-m", "selfeng", "tools", tool["name"]).returncode
