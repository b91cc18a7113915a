"""The hostile cases that reach a browser: what a tool returns and a model repeats fires nothing and fetches nothing."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from src.offline.completion import Completion
from tests.browser.test_page import Theatre, ask, finished, open_page, theatre

__all__ = ["theatre"]

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.timeout(240)]

FILE = Path(__file__).parents[1] / "sandbox" / "hostile_cases.jsonl"
PRINTED = {c["id"]: c["payload"] for c in map(json.loads, FILE.read_text().splitlines()) if c["role"] == "output"}
MORE = {
    "H04": '<a href="jAvAsCrIpT:alert(1)">y</a><iframe srcdoc="<script>alert(1)</script>"></iframe><math><img src=x onerror=alert(1)>',
    "H05": "[a]: https://attacker.invalid/a\n\n![b][a] <link rel=stylesheet href=https://attacker.invalid/c><video poster=https://attacker.invalid/d>",
}
"""Of the same kind."""


@pytest.mark.parametrize("case", ["H04", "H05"])
@pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "unguarded"])
def test_what_a_tool_says_fires_and_fetches_nothing(case: str, guarded: bool, theatre: Theatre, page: Page, unguarded: Page) -> None:
    """The result comes from the sandbox, the answer from a model that repeats it as Markdown; once without the policy of the page."""
    shown = page if guarded else unguarded
    payload = PRINTED[case].removeprefix('print("').removesuffix('")')
    theatre.stage.plays({"answer the person": Completion(content=f"{payload}\n\n{MORE[case]}\n\nEnd")})
    dialogs: list[str] = []
    requests: list[str] = []
    shown.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    open_page(shown, theatre.link)
    shown.on("request", lambda request: requests.append(request.url))
    ask(shown, f"Reverse the string '{payload[::-1]}'")
    turn = finished(shown)
    expect(turn.get_by_test_id("result")).to_contain_text(payload)
    turn.get_by_text("End").click()
    answer = turn.locator(".markdown").last
    hostile = "img, script, iframe, svg, math, video, link, style, form, [style], [onclick], [onerror], [onload], [srcdoc], [src]"
    expect(answer.locator(hostile)).to_have_count(0)
    for link in answer.locator("a").all():
        assert urlsplit(link.get_attribute("href") or "").scheme in ("", "https")
    assert {urlsplit(url).hostname for url in requests} <= {"127.0.0.1"}
    assert dialogs == []
