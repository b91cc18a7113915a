"""The parts that a start is still setting up, on the page: shown with their progress, waited for,
and gone when they are ready.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_page import ask, finished, flaws, open_page, step
from tests.web.server_process import ServerProcess

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


@pytest.fixture
def link(tmp_path) -> Iterator[str]:
    server = ServerProcess(tmp_path, "threading")
    yield server.link
    assert server.end() == (0, "")


def test_what_is_set_up_is_told_with_its_progress_and_a_request_waits_for_it(
    link: str, page: Page, second_page: Page
):
    open_page(page, link)
    ask(page, "prepare it")
    strip = page.get_by_test_id("setting-up")
    expect(strip).to_contain_text("The sandbox: 3 of 15")
    expect(page.get_by_test_id("not-set-up")).to_contain_text(
        "Search by meaning: not set up yet. The server will try again."
    )
    expect(page.get_by_test_id("status-sandbox")).to_have_attribute("data-state", "preparing")
    expect(step(page, "waiting")).to_have_attribute("data-state", "running")
    expect(step(page, "waiting")).to_contain_text("code runs there only")
    assert flaws(page, "setting up") == []

    second_page.goto(link)
    ask(second_page, "release it")
    expect(strip).to_have_count(0)
    expect(page.get_by_test_id("status-sandbox")).to_have_attribute("data-state", "available")
    expect(step(page, "waiting")).to_have_attribute("data-state", "done")
    finished(page)
