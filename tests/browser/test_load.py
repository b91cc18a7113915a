"""How the page comes up, in Chromium: what paints first stands where the page will, in few requests,
bundled or as modules.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.test_page import NARROW, WIDE, ask, open_page
from tests.web.server_process import ServerProcess

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

PARTS = (".header", ".mark", ".sidebar", ".chat", ".composer", ".panel", ".viewbar")
BOXES = """(parts) => parts.map((part) => {
  const { x, y, width, height } = document.querySelector(part).getBoundingClientRect();
  return [part, Math.round(x), Math.round(y), Math.round(width), Math.round(height)];
})"""


def test_what_paints_first_stands_where_the_page_will(
    link: str, browser: Browser, page: Page
) -> None:
    for size in (WIDE, NARROW):
        with browser.new_context(java_script_enabled=False, viewport=size) as context:
            skeleton = context.new_page()
            skeleton.goto(link)
            first = skeleton.evaluate(BOXES, PARTS)
        page.set_viewport_size(size)
        open_page(page, link)
        assert page.evaluate(BOXES, PARTS) == first, size


def test_a_cold_load_takes_few_requests(link: str, page: Page) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    open_page(page, link)
    assert len(requests) <= 20
    assert not [url for url in requests if "/static/js/" in url or "/vendor/" in url]


def test_the_page_works_unbundled(tmp_path: Path, page: Page) -> None:
    server = ServerProcess(tmp_path, "threading", DEVELOPMENT="true")
    open_page(page, server.link)
    ask(page, "essay 120")
    expect(page.get_by_test_id("answer").locator("pre")).to_contain_text("def moving_average")
    ask(page, "return rows 60")
    expect(page.get_by_test_id("long-result")).to_contain_text("60 rows")
    assert server.end() == (0, "")
