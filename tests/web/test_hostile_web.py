"""The hostile case about other people's data: what belongs to somebody is nobody else's to read, hear, stop or continue."""

import pytest
import requests

from tests.web.server_process import ServerProcess


@pytest.mark.parametrize("case", ["D09"])
def test_ids_open_nothing_that_is_not_ones_own(case: str, server: ServerProcess, visitor: requests.Session) -> None:
    with server.browser() as stranger, server.socket(visitor) as mine, server.socket(stranger) as theirs, server.program() as program:
        asked = mine.ask("say a secret")
        mine.records(until="turn_finished")
        records = f"{server.url}/api/conversations/{asked['conversation_id']}/records"
        outside = requests.get(records, timeout=20)
        assert (outside.status_code, "secret" in outside.text) == (401, False)
        for session in (stranger, program):
            response = session.get(records)
            assert (response.status_code, "secret" in response.text) == (404, False)
            assert asked["conversation_id"] not in session.get(f"{server.url}/api/conversations").text
        assert theirs.call("subscribe", {"conversation_id": asked["conversation_id"], "after": 0})["ok"] is False
        assert theirs.ask("say more", asked["conversation_id"])["ok"] is False
        assert theirs.call("stop", {"turn_id": asked["turn_id"]})["stopped"] is False
        for name in ("../../data/cookie.key", "..%2f..%2fdata%2fcookie.key", "%2e%2e", "add/../../x"):
            assert visitor.get(f"{server.url}/api/tools/{name}").status_code in (400, 404)
        theirs.ask("say the end")
        assert "a secret" not in str(theirs.records(until="turn_finished"))
