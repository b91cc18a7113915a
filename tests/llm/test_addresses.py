"""Where requests go, and with which headers: gateways, Azure, addresses with a query."""

from tests.llm.desk import Desk
from tests.llm.wire_server import Served, serving


async def test_requests_of_programs_are_sent_to_either_path(desk: Desk) -> None:
    with serving(lambda sent: Served({"path": sent.path})) as server:
        desk.use(base_url=f"{server.url}/v1")
        for options in ({}, {"path": "/responses"}):
            body = {"model": "selfeng", "input": "Hello"}
            head, content = [piece async for piece in desk.client.forward(body, **options)]
            assert head == (200, "application/json")
            assert options.get("path", "/chat/completions").encode() in content
        assert [sent.body["model"] for sent in server.requests] == ["offline"] * 2
        assert server.bodies[1] == {"model": "offline", "input": "Hello"}
