"""Links to a conversation: what they show without the token, to whom they belong, and how they end."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import requests
import sqlalchemy as sa

from selfeng.store import schema
from selfeng.store.database import open_database
from tests.web.server_process import Client, ServerProcess, of_somebody_else


@pytest.fixture
def client(server: ServerProcess, visitor: requests.Session) -> Iterator[Client]:
    with server.socket(visitor) as client:
        yield client


class Owner:
    """The owner of a conversation, with its links."""

    def __init__(self, server: ServerProcess, visitor: requests.Session, conversation: str) -> None:
        self._visitor, self._own = visitor, {"Origin": server.url}
        self._conversation = f"{server.url}/api/v1/conversations/{conversation}"
        self._url, self._shares = server.url, f"{self._conversation}/shares"

    def share(self, days: int | None = None) -> tuple[str, str]:
        """The id of a new link, and its address."""
        made = self._visitor.post(self._shares, json={"days": days}, headers=self._own).json()
        assert set(made) == {"id", "created_at", "updated_at", "expires_at", "token", "path"}
        return made["id"], self._url + made["path"]

    def listed(self) -> list[dict[str, Any]]:
        shares: list[dict[str, Any]] = self._visitor.get(self._shares).json()["shares"]
        return shares

    def renew(self, share: str) -> int:
        return self._visitor.post(f"{self._shares}/{share}", headers=self._own).status_code

    def revoke(self, share: str) -> int:
        return self._visitor.delete(f"{self._shares}/{share}", headers=self._own).status_code

    def delete(self, deleted: bool) -> None:
        self._visitor.patch(self._conversation, json={"deleted": deleted}, headers=self._own)


def asked(client: Client, text: str, conversation: str | None = None) -> str:
    reply = client.ask(text, conversation)
    client.records("turn_finished", reply["turn_id"])
    found: str = reply["conversation_id"]
    return found


def read(address: str) -> list[tuple[str, str]]:
    """The requests and answers that a stranger reads under a link."""
    told = requests.get(f"{address}/conversation", timeout=20).json()
    assert [r["seq"] for r in told["records"]] == list(range(1, len(told["records"]) + 1))
    events = [r["event"] for r in told["records"]]
    requests_ = [e["request"] for e in events if e["type"] == "turn_started"]
    answers = [e["answer"] for e in events if e["type"] == "turn_finished"]
    return list(zip(requests_, answers, strict=True))


def test_a_link_shows_the_conversation_as_it_was_until_it_is_renewed_and_revoked(
    server: ServerProcess, visitor: requests.Session, client: Client
) -> None:
    conversation = asked(client, "say <b>zebra</b>")
    owner = Owner(server, visitor, conversation)
    share, address = owner.share()
    assert re.fullmatch(rf"{server.url}/share/[\w-]{{32}}", address)
    assert address.rpartition("/")[2] not in visitor.get(f"{server.url}/api/v1/health").text
    first = ("say <b>zebra</b>", "<b>zebra</b>")
    held = client.ask("hold share", conversation)["turn_id"]
    asked(client, "say lion", conversation)
    assert read(address) == [first]
    assert owner.renew(share) == 200
    assert read(address) == [first, ("say lion", "lion")]  # the other one still runs
    client.ask("release share", conversation)
    client.records("turn_finished", held)

    page = requests.get(address, timeout=20)
    assert (page.status_code, page.headers["X-Robots-Tag"]) == (200, "noindex, nofollow")
    assert 'content="noindex, nofollow"' in page.text
    assert "<title>say &lt;b&gt;zebra&lt;/b&gt; " in page.text
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(loaded) > 3
    for path in loaded:
        assert path.startswith(f"{address.removeprefix(server.url)}/")
        assert requests.get(server.url + path, timeout=20).status_code == 200, path
    assert "Set-Cookie" not in page.headers
    assert conversation not in page.text + requests.get(f"{address}/conversation", timeout=20).text

    assert [line["id"] for line in owner.listed()] == [share]
    assert "token" not in owner.listed()[0]
    assert (owner.revoke(share), owner.revoke(share), owner.listed()) == (200, 404, [])
    assert requests.get(address, timeout=20).status_code == 404
    assert owner.renew(share) == 404


def test_a_link_shows_the_files_and_values_of_its_turns_only(
    server: ServerProcess, visitor: requests.Session, client: Client
) -> None:
    own = {"Origin": server.url}
    uploads = [
        visitor.post(
            f"{server.url}/api/v1/files", params={"name": name}, data=content, headers=own
        ).json()
        for name, content in (("first.txt", b"one"), ("second.txt", b"two"))
    ]

    def send(text: str, upload: dict[str, Any], conversation: str | None) -> str:
        payload = {"text": text, "conversation_id": conversation, "files": [upload["id"]]}
        reply = client.call("ask", payload, timeout=20)
        client.records("turn_finished", reply["turn_id"])
        found: str = reply["conversation_id"]
        return found

    conversation = send("say back", uploads[0], None)
    asked(client, "return rows 30", conversation)
    owner = Owner(server, visitor, conversation)
    share, address = owner.share()
    send("say back", uploads[1], conversation)
    file, later = (f"{address}/files/{u['sha256']}/{u['name']}" for u in uploads)
    assert requests.get(file, timeout=20).content == b"one"
    assert requests.get(later, timeout=20).status_code == 404
    assert owner.renew(share) == 200
    assert requests.get(later, timeout=20).content == b"two"
    assert requests.get(file.replace("first", "other"), timeout=20).status_code == 404

    records = requests.get(f"{address}/conversation", timeout=20).json()["records"]
    (value,) = (
        r["event"]["execution"]["value"]
        for r in records
        if r["event"]["type"] == "execution_finished"
    )
    result = f"{address}/results/{value['sha256']}"
    assert len(requests.get(result, timeout=20).json()) == 30
    assert requests.get(f"{result}?format=csv", timeout=20).text.count("\n") == 31
    other = asked(client, "say something else")
    _, elsewhere = Owner(server, visitor, other).share()
    for inner in (f"files/{uploads[0]['sha256']}/first.txt", f"results/{value['sha256']}"):
        assert requests.get(f"{elsewhere}/{inner}", timeout=20).status_code == 404


def test_every_link_that_opens_nothing_has_the_same_answer(
    server: ServerProcess, visitor: requests.Session, client: Client
) -> None:
    owner = Owner(server, visitor, asked(client, "say gone"))
    (revoked, old), (expired, ended), (_, kept) = owner.share(), owner.share(7), owner.share(30)
    assert {len(owner.listed()), owner.revoke(revoked)} == {3, 200}
    database = open_database(f"sqlite:///{server.folder / 'agent.db'}")
    shares = schema.shares
    with database.begin() as connection:
        over = datetime.now(UTC) - timedelta(seconds=1)
        connection.execute(shares.update().where(shares.c.id == expired).values(expires_at=over))
        tokens = connection.execute(sa.select(shares.c.token)).scalars().all()
    database.dispose()
    assert kept.rpartition("/")[2] not in tokens  # only their hashes are stored
    assert len(owner.listed()) == 1
    owner.delete(True)

    def answer(address: str) -> tuple[int, str, set[str]]:
        response = requests.get(address, timeout=20)
        body = re.sub(r'nonce="[^"]+"', "", response.text)
        return response.status_code, body, set(response.headers)

    unknown = answer(f"{server.url}/share/{'x' * 32}")
    assert unknown[0] == 404
    assert "opens nothing" in unknown[1]
    for address in (old, ended, kept, f"{kept}/conversation", f"{old}/static/style.css"):
        assert answer(address) == unknown
    owner.delete(False)
    assert requests.get(kept, timeout=20).status_code == 200


def test_nobody_shares_what_belongs_to_somebody_else(
    server: ServerProcess, visitor: requests.Session, client: Client
) -> None:
    foreign = f"{server.url}/api/v1/conversations/{of_somebody_else(server.folder)}/shares"
    mine = asked(client, "say mine")
    share, _ = Owner(server, visitor, mine).share()
    own = {"Origin": server.url}
    assert visitor.get(foreign).status_code == 404
    assert visitor.post(foreign, json={}, headers=own).status_code == 404
    for method in ("POST", "DELETE"):
        assert visitor.request(method, f"{foreign}/{share}", headers=own).status_code == 404


@pytest.mark.parametrize("body", [b"", b"[]", b'{"days": 1}', b'{"days": "7"}', b'{"more": 1}'])
def test_a_lifetime_that_is_not_offered_is_refused(
    server: ServerProcess, visitor: requests.Session, client: Client, body: bytes
) -> None:
    address = f"{server.url}/api/v1/conversations/{asked(client, 'say it')}/shares"
    assert visitor.post(address, data=body, headers={"Origin": server.url}).status_code == 400
