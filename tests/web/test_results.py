"""Values over HTTP: whole, as JSON and as files, to their owner only."""

import json
from pathlib import Path
from typing import Any

import pytest
import requests

from selfeng.core.result import LONG
from tests.web.server_process import ServerProcess, of_somebody_else

ROOT = Path(__file__).parents[2]
ROWS = [{"month": n, "who": "=Änn", "paid": -1.5 * n} for n in range(360)]


def returned(server: ServerProcess, visitor: requests.Session, value: Any) -> tuple[str, str]:
    """The addresses of a conversation and of the value that its tool returned."""
    with server.socket(visitor) as page:
        asked = page.call("ask", {"text": f"return {json.dumps(value)}"}, timeout=20)
        assert asked["ok"], asked
        events = [r["event"] for r in page.records(until="turn_finished")]
    place = f"{server.url}/api/v1/conversations/{asked['conversation_id']}"
    reference = next(e["execution"]["value"] for e in events if e["type"] == "execution_finished")
    return place, f"{place}/results/{reference['sha256']}"


def test_a_long_table_is_handed_out_whole(server: ServerProcess, visitor: requests.Session) -> None:
    place, address = returned(server, visitor, ROWS)
    assert visitor.get(address).json() == ROWS
    again = visitor.get(f"{place}/records").json()["records"]
    execution = next(r["event"]["execution"] for r in again if "execution" in r["event"])
    assert address.endswith(execution["value"]["sha256"])
    assert (execution["value"]["kind"], execution["value"]["count"]) == ("table", 360)
    assert "data" not in execution


def test_a_table_is_downloaded_as_csv_that_spreadsheets_do_not_run(
    server: ServerProcess, visitor: requests.Session
) -> None:
    _, address = returned(server, visitor, ROWS)
    response = visitor.get(f"{address}?format=csv")
    assert response.headers["Content-Disposition"] == "attachment; filename=result.csv"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert set(response.headers["Cache-Control"].split(", ")) == {"no-cache", "private"}
    lines = response.content.decode("utf-8-sig").splitlines()
    assert (len(lines), lines[:2], lines[-1]) == (
        361,
        ["month,who,paid", "0,'=Änn,-0.0"],
        "359,'=Änn,-538.5",
    )
    again = visitor.get(response.url, headers={"If-None-Match": response.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_value_is_downloaded_in_other_formats(
    server: ServerProcess, visitor: requests.Session, form: str
) -> None:
    _, address = returned(server, visitor, {"a": [1, {"b": None}]})
    response = visitor.get(f"{address}?format={form}")
    assert response.json() == {"a": [1, {"b": None}]}
    assert response.headers["Content-Disposition"].startswith("attachment; filename=result.")


def test_nobody_gets_a_value_that_is_not_theirs(
    server: ServerProcess, visitor: requests.Session
) -> None:
    place, address = returned(server, visitor, "a secret of the visitor")
    assert requests.get(address, timeout=20).status_code == 401
    elsewhere, _ = returned(server, visitor, "something else")
    mine, theirs = place.rpartition("/")[2], of_somebody_else(server.folder)
    for other in (elsewhere.rpartition("/")[2], theirs):
        assert visitor.get(address.replace(mine, other)).status_code == 404
    assert visitor.get(f"{address}?format=exe").status_code == 400
    assert visitor.get(f"{place}/results/unknown").status_code == 404


def test_page_and_engine_call_the_same_values_long() -> None:
    script = (ROOT / "web" / "static" / "js" / "results.js").read_text()
    assert f"export const LONG = {LONG};" in script
