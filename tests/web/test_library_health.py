"""The health of the library by REST and MCP."""

import requests

from tests.web.server_process import ServerProcess
from tests.web.test_mcp import asked, connected, text


async def test_findings_are_listed_and_tools_merged_and_parted(
    server: ServerProcess, visitor: requests.Session
) -> None:
    async with connected(server) as client:
        await asked(client, "born sum_of_two")
        listed = await client.call_tool("library_health", {"days": 7})
        assert "add: sum_of_two does the same for all 24 inputs, 9 of them recorded" in text(listed)
    api, origin = f"{server.url}/api/v1", {"Origin": server.url}
    report = visitor.get(f"{api}/health/library", params={"days": 7}).json()
    assert report == listed.structured_content
    assert report["troubled"]
    twins = next(finding for finding in report["findings"] if finding["kind"] == "twins")
    assert (twins["tools"][0], twins["proposal"]) == ("add", "merge")
    (unused,) = [f for f in report["findings"] if f["tools"] == ["sum_of_two"]]
    assert unused["words"] == "nobody has used it in 7 days"
    assert visitor.get(f"{api}/health/library", params={"days": -1}).status_code == 400

    tool = f"{api}/tools/sum_of_two"
    merged = visitor.post(f"{tool}/merge", json={"into": "add"}, headers=origin)
    assert merged.json() == {"name": "add", "version": 3, "waits": False, "turn": None}
    assert visitor.get(tool).json()["merged_into"] == "add"
    parted = visitor.post(f"{tool}/unmerge", headers=origin).json()
    assert (parted["standing"], parted["merged_into"]) == ("provisional", "")
    refused = visitor.post(f"{api}/tools/add/merge", json={"into": "add"}, headers=origin)
    assert refused.status_code == 400
