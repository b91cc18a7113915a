"""The list of conversations over HTTP: changed and searched by its owner, and every page is told."""

import pytest
import requests

from tests.web.server_process import ServerProcess, of_somebody_else


def test_a_conversation_is_managed_and_every_page_is_told(
    server: ServerProcess, visitor: requests.Session
) -> None:
    address, own = f"{server.url}/api/v1/conversations", {"Origin": server.url}

    def listed(text: str = "", limit: int | None = None) -> dict[str, dict]:
        found = visitor.get(address, params={"q": text, "limit": limit}).json()["conversations"]
        return {c["id"]: c for c in found}

    with server.socket(visitor) as page, server.socket(visitor) as other:
        mine = page.ask("say zebra stripes")["conversation_id"]
        page.records(until="turn_finished")
        assert other.next("conversations") == {"newest": True}  # it has begun
        while (line := listed()[mine])["running"]:
            other.next("conversations")
        assert (line["unread"], line["pinned"]) == (True, False)
        assert (list(listed("STRIPES zebra")), listed("zebra lion")) == ([mine], {})
        for change in ({"title": "Stripes"}, {"pinned": True}, {"seen": True}):
            assert visitor.patch(f"{address}/{mine}", json=change).status_code == 403
            assert visitor.patch(f"{address}/{mine}", json=change, headers=own).json() == {}
            assert other.next("conversations") == {"newest": False}
        assert list(listed(limit=1)) == [mine]
        assert visitor.get(address, params={"limit": 0}).status_code == 400
        line = listed()[mine]
        assert (line["title"], line["pinned"], line["unread"]) == ("Stripes", True, False)
        visitor.patch(f"{address}/{mine}", json={"deleted": True}, headers=own)
        assert mine not in listed()
        assert visitor.get(f"{address}/{mine}/records").status_code == 404
        visitor.patch(f"{address}/{mine}", json={"deleted": False}, headers=own)
        assert listed()[mine] == line


@pytest.mark.parametrize("change", [{"title": "mine"}, {"deleted": True}, {"deleted": False}])
def test_nobody_changes_what_belongs_to_somebody_else(
    server: ServerProcess, visitor: requests.Session, change: dict[str, object]
) -> None:
    foreign = of_somebody_else(server.folder)
    response = visitor.patch(
        f"{server.url}/api/v1/conversations/{foreign}", json=change, headers={"Origin": server.url}
    )
    assert (response.status_code, response.json()["error"]["message"]) == (
        404,
        f"unknown conversation {foreign!r}",
    )


@pytest.mark.parametrize("body", [b"", b"{}", b'{"title": " "}', b'{"owner": "me"}'])
def test_a_change_that_makes_no_sense_is_refused(
    server: ServerProcess, visitor: requests.Session, body: bytes
) -> None:
    response = visitor.patch(
        f"{server.url}/api/v1/conversations/any", data=body, headers={"Origin": server.url}
    )
    assert response.status_code == 400
    assert response.json()["error"]["remedy"] == "send {title, pinned, deleted, model, seen}"


def test_a_conversation_is_exported_whole(server: ServerProcess, visitor: requests.Session) -> None:
    with server.socket(visitor) as page:
        mine = page.ask("say to **be**\n# or not/to be")["conversation_id"]
        page.records(until="turn_finished")
        page.ask("fail", mine)
        records = page.records(until="turn_failed")
        address = f"{server.url}/api/v1/conversations/{mine}/export"
        whole = visitor.get(f"{address}.json")
        assert whole.json()["conversation"]["title"] == "say to **be**\n# or not/to be"
        assert whole.json()["records"] == page.follow(mine)
        assert whole.json()["records"][-1] == records[-1]
        text = visitor.get(f"{address}.md")
        lines = [line for line in text.text.splitlines() if line and not line.startswith("## 20")]
        assert lines[1:] == [
            "> say to **be**",
            "> # or not/to be",
            "to**be**#ornot/tobe",
            "> fail",
            "**Failed:** fail is not in the script",
        ]
        assert lines[0].startswith("# say to **be**")
        assert text.headers["Content-Disposition"].startswith("attachment; filename=")
        assert "/" not in text.headers["Content-Disposition"]
        assert visitor.get(f"{address}.exe").status_code == 400
    foreign = of_somebody_else(server.folder)
    for form in ("md", "json"):
        response = visitor.get(f"{server.url}/api/v1/conversations/{foreign}/export.{form}")
        assert response.status_code == 404
