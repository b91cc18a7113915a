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


def test_it_can_be_installed(link: str, page: Page) -> None:
    open_page(page, link)
    devtools = page.context.new_cdp_session(page)
    manifest = devtools.send("Page.getAppManifest")
    assert manifest["url"].endswith("/static/manifest.json")
    assert manifest["errors"] == []
    assert devtools.send("Page.getInstallabilityErrors")["installabilityErrors"] == []


def test_on_paper_is_the_conversation_alone(link: str, page: Page) -> None:
    open_page(page, link)
    ask(page, "essay 120")
    expect(page.get_by_test_id("turn")).to_have_attribute("data-state", "done")
    page.emulate_media(media="print", color_scheme="dark")
    for shown in ("request", "answer"):
        expect(page.get_by_test_id(shown)).to_be_visible()
    for hidden in (".header", ".sidebar", ".panel", ".composer", ".turn-actions"):
        expect(page.locator(hidden).first).to_be_hidden()
    scrollers = "[...document.querySelectorAll('.chat-scroller, .page')]"
    assert page.evaluate(f"{scrollers}.every((e) => e.scrollHeight <= e.clientHeight + 1)")


def test_a_large_file_is_sent_with_progress_and_can_be_cancelled(
    tmp_path: Path, page: Page
) -> None:
    server = ServerProcess(tmp_path, "eventlet", FILES_MAX_MB="50")
    open_page(page, server.link)
    (tmp_path / "large.csv").write_bytes(b"day,price\n" * 2_000_000)
    (tmp_path / "too-large.csv").write_bytes(b"day,price\n" * 6_000_000)
    picker = page.get_by_test_id("file-input")
    picker.set_input_files(str(tmp_path / "too-large.csv"))
    expect(page.get_by_test_id("files-refused")).to_contain_text("57.2 MB")
    page.context.new_cdp_session(page).send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 2_000_000},
    )
    picker.set_input_files(str(tmp_path / "large.csv"))
    ask(page, "Hello")
    pending = page.get_by_test_id("pending-sending")
    expect(pending).to_contain_text("Sending large.csv: ")
    page.get_by_test_id("pending-cancel").click()
    expect(page.get_by_test_id("pending")).to_have_count(0)
    picker.set_input_files(str(tmp_path / "large.csv"))
    ask(page, "essay 10")
    expect(page.get_by_test_id("request-file").get_by_role("button")).to_contain_text("19.1 MB")
    assert server.end() == (0, "")
