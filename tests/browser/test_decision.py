"""What the search found, and the requests that a tool has served, in Chromium on the real engine; nothing runs, so it needs no sandbox."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Page, expect

from tests.browser.test_page import OVERFLOW, REVERSE, ask, bare_home, ended, flaws, open_page, step
from tests.home import serving
from tests.registry.repaired import USED, prepare

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


@pytest.fixture
def link(tmp_path: Path) -> Iterator[str]:
    home = bare_home(tmp_path)
    with start_blocking_portal() as portal:  # Playwright has a loop in this thread
        portal.call(prepare, home)
    with serving(home, SANDBOX="docker", DOCKER_HOST=f"unix://{tmp_path}/none.sock", SEARCH_FLOOR="0", SIMILARITY_THRESHOLD="0") as link:
        yield link


def test_candidates_are_shown_with_their_confidence_and_a_used_request_is_removed_by_keyboard(link: str, page: Page) -> None:
    open_page(page, link)
    ask(page, REVERSE)
    ended(page, 1, "failed")  # there is no sandbox
    found = step(page, "tool_found")
    expect(found.locator(".found")).to_contain_text("reverse_text")
    candidates = found.get_by_test_id("candidates").get_by_role("listitem")
    expect(candidates).to_have_count(1)
    expect(candidates).to_contain_text("shout_text")
    expect(candidates.locator(".candidate-share")).to_have_text(["0%"])
    assert flaws(page, "candidates") == []  # leaves the page narrow
    found.get_by_role("button", name="reverse_text").click()

    requests = page.get_by_test_id("requests")
    for request in USED:
        expect(requests).to_contain_text(request)
    remove = requests.get_by_role("button", name=f"Remove: {USED[0]}")
    remove.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("forget-yes")).to_be_focused()
    assert flaws(page, "requests, and a question") == []
    page.keyboard.press("Enter")
    expect(requests).not_to_contain_text(USED[0])
    expect(requests).to_contain_text(USED[1])
    expect(page.get_by_role("heading", name="Ask for it like this")).to_be_focused()
    assert page.evaluate(OVERFLOW) <= 0
